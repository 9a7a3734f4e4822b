/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/stages.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include "exec/box.h"

static int fill_workspace(const struct source *source, const struct workspace *workspace, struct assay_error *err)
{
	const struct plan *plan = &source->plan;
	int status = source->layer ? tree_copy(source->layer->workspace.fd, workspace->fd, err)
	                           : workspace_fill(workspace, plan->files, plan->file_count, err);
	return status ? status : workspace_give(workspace, &plan->box, err);
}

static void fetch_files(struct request *request, const struct workspace *workspace)
{
	size_t count = 0;
	while (request->run.fetch && request->run.fetch[count])
		count++;
	request->fetched = arena_array(request->arena, count, sizeof(*request->fetched));
	request->fetched_count = count;
	for (size_t i = 0; i < count; i++) {
		struct fetched_file *file = &request->fetched[i];
		auto_buffer struct buffer content = {0};
		file->path = str_of(request->run.fetch[i]);
		file_read_beneath(workspace->fd, file->path, FETCH_BYTES_MAX, &content, &file->size_bytes,
		                  &file->error);
		file->content = arena_copy(request->arena, buffer_str(&content));
	}
}

/* One box in a workspace of its own. */
static int run_once(struct work *work, struct test_case *test, struct slot *slot, struct assay_error *err)
{
	struct request *request = work->request;
	const struct plan *plan = &test->source->plan;
	struct step_record *record = &test->result.record.run;
	struct workspace workspace;
	int status = workspace_make(work->workshop->scratch, &workspace, err);
	if (status)
		return status;
	status = fill_workspace(test->source, &workspace, err);
	if (status == 0) {
		struct plan_step step = plan->run;
		step.limits = (struct limits){.cpu_ns = test->given.cpu_ns,
		                              .wall_ns = test->given.wall_ns,
		                              .memory_bytes = test->given.memory_bytes};
		limits_fill(&step.limits, &plan->run.limits);
		const struct box box = {.step = &step,
		                        .settings = &plan->box,
		                        .workspace = &workspace,
		                        .args = request->run.args,
		                        .stdin_data = test->given.stdin_data,
		                        .has_mark = test->given.mark != 0,
		                        .cancel_fd = work->workshop->cancel_fd};
		box_run(slot->link, &box, record);
		if (!request->dataset && !record->is_keeper_lost)
			fetch_files(request, &workspace);
	}
	workspace_remove(&workspace);
	return status;
}

int stage_run(struct work *work, struct test_case *test, struct slot *slot, struct assay_error *err)
{
	struct record *record = &test->result.record;
	int status = run_once(work, test, slot, err);
	if (status == 0 && record->run.is_keeper_lost) {
		step_record_free(&record->run);
		status = run_once(work, test, slot, err);
	}
	record->has_run = status == 0;
	return status;
}
