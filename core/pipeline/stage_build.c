/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/stages.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/str.h"
#include "exec/box.h"

struct build {
	struct work *work;
	struct slot *slot;
	const struct plan *plan;
};

static int build_layer(void *arg, const struct workspace *workspace, struct step_record *record,
                       struct assay_error *err)
{
	const struct build *build = arg;
	const struct plan *plan = build->plan;
	int status = workspace_fill(workspace, plan->files, plan->file_count, err);
	if (status == 0)
		status = workspace_give(workspace, &plan->box, err);
	if (status)
		return status;
	const struct box box = {.step = &plan->build,
	                        .settings = &plan->box,
	                        .workspace = workspace,
	                        .cancel_fd = build->work->workshop->cancel_fd};
	box_run(build->slot->link, &box, record);
	/* Back from the box's user: what cases share must not be theirs to change. */
	if (plan->box.has_identity)
		status = tree_chown(workspace->scratch->fd, workspace->name, geteuid(), getegid(), err);
	if (status)
		return status;
	return tree_remove(workspace->fd, ".tmp", err); /* every case has its own */
}

static void digest_list(struct digest *digest, const char *const *list)
{
	for (; *list; list++)
		digest_field(digest, str_of(*list));
	digest_field(digest, STR(""));
}

/* Everything that decides what a build leaves. */
static void layer_key(const struct plan *plan, char key[DIGEST_HEX_SIZE])
{
	struct digest digest;
	digest_init(&digest);
	digest_field(&digest, str_of(plan->language));
	digest_field(&digest, str_of(plan->box.isolation));
	digest_field(&digest, (struct assay_str){(const char *)&plan->build.limits, sizeof(plan->build.limits)});
	digest_list(&digest, plan->build.argv);
	digest_list(&digest, plan->build.env);
	for (size_t i = 0; i < plan->file_count; i++) {
		digest_field(&digest, plan->files[i].path);
		digest_field(&digest, plan->files[i].content);
		digest_field(&digest, (struct assay_str){(const char *)&plan->files[i].mode, sizeof(mode_t)});
	}
	digest_hex(&digest, key);
}

int stage_build(struct work *work, struct source *source, struct slot *slot, struct assay_error *err)
{
	struct request *request = work->request;
	int status = planner_plan(work->workshop->planner, request->arena, request->pipeline, &source->input,
	                          &source->plan, err);
	if (status || !source->plan.build.argv || !(request->pipeline->stages & STAGE_BUILD))
		return status;
	char key[DIGEST_HEX_SIZE];
	layer_key(&source->plan, key);
	struct build build = {.work = work, .slot = slot, .plan = &source->plan};
	for (int attempt = 0;; attempt++) {
		status = layers_get(work->workshop->layers, key, build_layer, &build, &source->layer, err);
		if (status || attempt > 0 || !source->layer->build.is_keeper_lost)
			return status;
		layers_release(work->workshop->layers, source->layer); /* and it is forgotten: once more */
		source->layer = NULL;
	}
}
