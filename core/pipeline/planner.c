/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/planner.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include "exec/box.h"
#include "plugin/host.h"
#include <assay/isolation.h>
#include <assay/language.h>

/*
 * One thread for numeric libraries: they would start one a CPU of the host, which the process limit of a box may refuse
 * (OpenBLAS then aborts) and which makes CPU time depend on the machine.
 */
static const char *const base_env[] = {
    ("PATH=" PLANNER_PATH), "LANG=C.UTF-8", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
};

struct language {
	const struct plugin *plugin;
	const struct assay_language_ops *ops;
	void *self;
	const struct assay_node *options; /* the defaults */
	struct limits build_limits, run_limits;
	struct assay_error problem;
};

struct planner {
	const struct registry *registry;
	const struct spawner_hello *facts;
	struct arena *arena;
	struct language *languages;
	size_t language_count;
};

static int open_language(struct planner *planner, struct language *language, struct assay_error *err)
{
	const struct descriptor *descriptor = &language->plugin->descriptor;
	const struct assay_node *build = node_get(descriptor->limits, "build");
	const struct assay_node *run = node_get(descriptor->limits, "run");
	language->ops = language->plugin->module->ops;
	int status = descriptor_options(planner->arena, descriptor, NULL, &language->options, err);
	if (status == 0 && build)
		status = limits_read(build, &language->build_limits, err);
	if (status == 0 && run)
		status = limits_read(run, &language->run_limits, err);
	if (status == 0)
		status = language->ops->create(&host_services, descriptor->root, &language->self, err);
	return status;
}

struct planner *planner_new(const struct registry *registry, const struct spawner_hello *facts)
{
	struct planner *planner = xmalloc(sizeof(*planner));
	planner->registry = registry;
	planner->facts = facts;
	planner->arena = arena_new();
	size_t count = registry_count(registry);
	planner->languages = arena_array(planner->arena, count, sizeof(*planner->languages));
	for (size_t i = 0; i < count; i++) {
		const struct plugin *plugin = registry_at(registry, i);
		if (plugin->kind != ASSAY_KIND_LANGUAGE || plugin->problem.status)
			continue;
		struct language *language = &planner->languages[planner->language_count++];
		language->plugin = plugin;
		open_language(planner, language, &language->problem);
	}
	return planner;
}

void planner_free(struct planner *planner)
{
	if (!planner)
		return;
	for (size_t i = 0; i < planner->language_count; i++)
		if (planner->languages[i].self)
			planner->languages[i].ops->destroy(planner->languages[i].self);
	arena_free(planner->arena);
	free(planner);
}

static int find_language(const struct planner *planner, struct assay_str name, const struct language **ret,
                         struct assay_error *err)
{
	const struct plugin *plugin;
	int status = registry_find(planner->registry, ASSAY_KIND_LANGUAGE, name, &plugin, err);
	if (status == 0)
		status = plugin_require_toolchain(plugin, err);
	for (size_t i = 0; status == 0 && i < planner->language_count; i++) {
		const struct language *language = &planner->languages[i];
		if (language->plugin != plugin)
			continue;
		if (language->problem.status && err)
			*err = language->problem;
		*ret = language;
		return language->problem.status;
	}
	return status ? status : error_set(err, ASSAY_INTERNAL, 0, "language '%s' was not opened", plugin->name);
}

/* What a language's plan() fills. */
struct drawing {
	struct arena *arena;
	struct plan *plan;
	size_t file_room;
};

static int draw_file(void *arg, struct assay_str path, struct assay_str content, uint32_t mode, struct assay_error *err)
{
	struct drawing *drawing = arg;
	struct plan *plan = drawing->plan;
	if (!path_is_plain(path))
		return error_set(err, ASSAY_INVALID, 0, "'%.*s' is no relative path without '.' or '..' parts",
		                 STR_ARG(path));
	for (size_t i = 0; i < plan->file_count; i++)
		if (str_equal(plan->files[i].path, path))
			return error_set(err, ASSAY_INVALID, 0, "the file '%.*s' is given twice", STR_ARG(path));
	if (plan->file_count == drawing->file_room) {
		drawing->file_room = 2 * drawing->file_room + 4;
		struct plan_file *files = arena_array(drawing->arena, drawing->file_room, sizeof(*files));
		if (plan->file_count)
			memcpy(files, plan->files, plan->file_count * sizeof(*files));
		plan->files = files;
	}
	plan->files[plan->file_count++] = (struct plan_file){
	    .path = arena_copy(drawing->arena, path), .content = arena_copy(drawing->arena, content), .mode = mode};
	return 0;
}

static size_t list_length(const char *const *list)
{
	size_t length = 0;
	while (list && list[length])
		length++;
	return length;
}

static const char *const *copy_argv(struct arena *arena, const char *const *argv)
{
	size_t count = list_length(argv);
	const char **copy = arena_array(arena, count + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_copy(arena, str_of(argv[i])).ptr;
	return copy;
}

/* True when the language sets the variable of `entry` itself. */
static bool is_replaced(const char *entry, const char *const *env)
{
	size_t name_len = (size_t)(strchr(entry, '=') - entry) + 1;
	for (; env && *env; env++)
		if (!strncmp(entry, *env, name_len))
			return true;
	return false;
}

/* The base environment with the language's over it: of two entries of one name, programs read the first. */
static const char *const *copy_env(struct arena *arena, const char *const *env)
{
	size_t count = 0, own = list_length(env);
	const char **copy = arena_array(arena, COUNT_OF(base_env) + own + 1, sizeof(*copy));
	for (size_t i = 0; i < COUNT_OF(base_env); i++)
		if (!is_replaced(base_env[i], env))
			copy[count++] = base_env[i];
	for (size_t i = 0; i < own; i++)
		copy[count++] = arena_copy(arena, str_of(env[i])).ptr;
	return copy;
}

static int draw_step(void *arg, enum assay_phase phase, const char *const *argv, const char *const *env,
                     struct assay_error *err)
{
	struct drawing *drawing = arg;
	struct plan_step *step = phase == ASSAY_PHASE_BUILD ? &drawing->plan->build : &drawing->plan->run;
	if (step->argv)
		return error_set(err, ASSAY_INTERNAL, 0, "a language gave the same step twice");
	if (!argv || !argv[0] || !argv[0][0])
		return error_set(err, ASSAY_INTERNAL, 0, "a language gave a step without a command");
	step->argv = copy_argv(drawing->arena, argv);
	step->env = copy_env(drawing->arena, env);
	return 0;
}

static int draw_protection(void *arg, const char *protection, const char *mechanism, struct assay_error *err)
{
	struct drawing *drawing = arg;
	const char *name = arena_copy(drawing->arena, str_of(protection)).ptr;
	const char *how = arena_copy(drawing->arena, str_of(mechanism)).ptr;
	if (!protections_set(&drawing->plan->box.protections, name, how))
		return error_set(err, ASSAY_INTERNAL, 0, "an isolation backend gave too many protections");
	return 0;
}

static int draw_identity(void *arg, uint32_t uid, uint32_t gid, struct assay_error *err)
{
	(void)err;
	struct plan_box *box = &((struct drawing *)arg)->plan->box;
	box->has_identity = true;
	box->uid = uid;
	box->gid = gid;
	return 0;
}

/* "memory" asks for any mechanism but "none"; "memory-cgroup" for one whose name so begins. */
static bool is_met(const struct protections *protections, struct assay_str wish)
{
	for (size_t i = 0; i < protections->count; i++) {
		struct assay_str name = str_of(protections->items[i].name);
		struct assay_str mechanism = str_of(protections->items[i].mechanism);
		if (!str_starts_with(wish, name))
			continue;
		struct assay_str rest = str_slice(wish, name.len, wish.len);
		if (rest.len == 0 && !str_is(mechanism, "none"))
			return true;
		if (rest.len > 1 && rest.ptr[0] == '-' && str_starts_with(mechanism, str_slice(rest, 1, rest.len)))
			return true;
	}
	return false;
}

static int check_required(const struct pipeline *pipeline, const struct protections *protections,
                          struct assay_error *err)
{
	for (size_t i = 0; i < node_count(pipeline->require); i++) {
		struct assay_str wish;
		int status = node_str(node_at(pipeline->require, i), &wish, err);
		if (status)
			return status;
		if (!is_met(protections, wish)) {
			node_error(err, node_at(pipeline->require, i),
			           "pipeline '%s' requires the protection '%.*s', which is not in force here; "
			           "'assay doctor' says what the host lacks",
			           pipeline->name, STR_ARG(wish));
			if (err)
				err->status = ASSAY_MISSING;
			return ASSAY_MISSING;
		}
	}
	return 0;
}

static int plan_box(struct planner *planner, const struct pipeline *pipeline, struct drawing *drawing,
                    struct assay_error *err)
{
	const struct assay_isolation_ops *ops = pipeline->isolation->module->ops;
	const struct assay_box_sink sink = {
	    .size = sizeof(sink), .arg = drawing, .protection = draw_protection, .identity = draw_identity};
	struct plan_box *box = &drawing->plan->box;
	box->isolation = pipeline->isolation->name;
	box_protections(planner->facts, &box->protections);
	int status = ops->plan(pipeline->isolation_self, &sink, err);
	if (status)
		return error_wrap(err, "isolation '%s'", box->isolation);
	return check_required(pipeline, &box->protections, err);
}

static void layer_limits(const struct language *language, const struct pipeline *pipeline, const struct limits *request,
                         struct plan *plan)
{
	plan->run.limits = *request;
	limits_fill(&plan->run.limits, &pipeline->run_limits);
	limits_fill(&plan->run.limits, &language->run_limits);
	limits_fill(&plan->run.limits, &limits_default);
	plan->build.limits = pipeline->build_limits;
	limits_fill(&plan->build.limits, &language->build_limits);
	limits_fill(&plan->build.limits, &limits_default);
}

int planner_plan(struct planner *planner, struct arena *arena, const struct pipeline *pipeline,
                 const struct planner_source *source, struct plan *ret, struct assay_error *err)
{
	const struct language *language = NULL;
	memset(ret, 0, sizeof(*ret));
	int status = find_language(planner, source->language, &language, err);
	if (status)
		return status;
	ret->language = language->plugin->name;
	layer_limits(language, pipeline, &source->limits, ret);

	struct drawing drawing = {.arena = arena, .plan = ret};
	const struct assay_source job = {.size = sizeof(job),
	                                 .scope = scope_of(arena),
	                                 .code = source->code,
	                                 .options = language->options,
	                                 .memory_bytes = ret->run.limits.memory_bytes};
	const struct assay_plan_sink sink = {
	    .size = sizeof(sink), .arg = &drawing, .file = draw_file, .step = draw_step};
	status = language->ops->plan(language->self, &job, &sink, err);
	if (status)
		return error_wrap(err, "language '%s'", ret->language);
	if (!ret->run.argv)
		return error_set(err, ASSAY_INTERNAL, 0, "language '%s' gave no run step", ret->language);
	for (size_t i = 0; status == 0 && i < source->file_count; i++)
		status =
		    draw_file(&drawing, source->files[i].path, source->files[i].content, source->files[i].mode, err);
	return status ? status : plan_box(planner, pipeline, &drawing, err);
}
