/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"
#include "base/error.h"
#include "base/str.h"
#include "data/yaml.h"
#include "plugin/host.h"
#include <assay/isolation.h>

/* The YAML keys, before anything is looked up. */
struct pipeline_file {
	struct assay_str name;
	const struct assay_node *isolation, *limits, *build_limits, *stages, *require, *record;
	int stop;
};

static const char *const stop_choices[] = {"never", "first_failure", NULL};

static const struct schema_field file_fields[] = {
    {"pipeline", SCHEMA_STR, offsetof(struct pipeline_file, name), true, NULL, "name; equals the file's"},
    {"isolation", SCHEMA_ANY, offsetof(struct pipeline_file, isolation), true, NULL, "a backend, or {use, options}"},
    {"limits", SCHEMA_MAP, offsetof(struct pipeline_file, limits), false, NULL, "of each run"},
    {"build_limits", SCHEMA_MAP, offsetof(struct pipeline_file, build_limits), false, NULL, "of each build step"},
    {"stages", SCHEMA_LIST, offsetof(struct pipeline_file, stages), true, NULL, "of extract, build, run, judge"},
    {"stop", SCHEMA_ENUM, offsetof(struct pipeline_file, stop), false, stop_choices, "when to leave cases out"},
    {"require", SCHEMA_LIST, offsetof(struct pipeline_file, require), false, NULL, "protections that must be in force"},
    {"record", SCHEMA_MAP, offsetof(struct pipeline_file, record), false, NULL, "what results show of a record"},
    {0},
};

static const struct schema_field record_fields[] = {
    {"output", SCHEMA_SIZE, offsetof(struct pipeline, record_output_bytes), false, NULL, "of each stream"},
    {0},
};

struct isolation_use {
	struct assay_str use;
	const struct assay_node *options;
};

static const struct schema_field isolation_fields[] = {
    {"use", SCHEMA_STR, offsetof(struct isolation_use, use), true, NULL, "name of a backend"},
    {"options", SCHEMA_MAP, offsetof(struct isolation_use, options), false, NULL, "its options"},
    {0},
};

static const struct {
	const char *name;
	enum stage stage;
	unsigned needs;
} stages[] = {
    {"extract", STAGE_EXTRACT, 0},
    {"build", STAGE_BUILD, 0},
    {"run", STAGE_RUN, STAGE_BUILD},
    {"judge", STAGE_JUDGE, STAGE_EXTRACT | STAGE_RUN},
};

struct opened_pipeline {
	struct pipeline pipeline; /* first: what callers see */
	struct arena *arena;
	const struct assay_isolation_ops *ops;
};

static int read_stage(const struct assay_node *node, unsigned *done, struct assay_error *err)
{
	struct assay_str name;
	int status = node_str(node, &name, err);
	if (status)
		return status;
	const char *names[COUNT_OF(stages) + 1] = {0};
	for (size_t i = 0; i < COUNT_OF(stages); i++) {
		names[i] = stages[i].name;
		if (!str_is(name, stages[i].name))
			continue;
		if (*done >= stages[i].stage)
			return node_error(err, node,
			                  "stage '%s' stands too late; the order is extract, build, run, judge",
			                  stages[i].name);
		if ((*done & stages[i].needs) != stages[i].needs)
			return node_error(err, node, "stage '%s' needs %s before it", stages[i].name,
			                  stages[i].stage == STAGE_RUN ? "'build'" : "'extract', 'build' and 'run'");
		*done |= stages[i].stage;
		return 0;
	}
	const char *near = str_nearest(name, names);
	return node_error(err, node, "unknown stage '%.*s'%s%s%s", STR_ARG(name), near ? "; did you mean '" : "",
	                  near ? near : "", near ? "'?" : "; there are extract, build, run and judge");
}

static int read_stages(const struct assay_node *list, unsigned *ret, struct assay_error *err)
{
	*ret = 0;
	for (size_t i = 0; i < node_count(list); i++) {
		int status = read_stage(node_at(list, i), ret, err);
		if (status)
			return status;
	}
	return *ret ? 0 : node_error(err, list, "a pipeline needs at least one stage");
}

static int check_require(const struct assay_node *list, struct assay_error *err)
{
	for (size_t i = 0; i < node_count(list); i++) {
		struct assay_str name;
		int status = node_str(node_at(list, i), &name, err);
		if (status)
			return status;
	}
	return 0;
}

static int open_isolation(struct opened_pipeline *opened, const struct registry *registry,
                          const struct assay_node *node, struct assay_error *err)
{
	struct isolation_use use = {0};
	int status = node_kind(node) == ASSAY_NODE_MAP ? schema_read(node, isolation_fields, &use, err)
	                                               : node_str(node, &use.use, err);
	struct pipeline *pipeline = &opened->pipeline;
	const struct assay_node *options = NULL;
	if (status == 0) {
		struct assay_error cause = {0};
		if (registry_find(registry, ASSAY_KIND_ISOLATION, use.use, &pipeline->isolation, &cause))
			return node_error(err, node, "%s", cause.message);
		status =
		    descriptor_options(opened->arena, &pipeline->isolation->descriptor, use.options, &options, err);
	}
	if (status)
		return status;
	opened->ops = pipeline->isolation->module->ops;
	return opened->ops->create(&host_services, options, &pipeline->isolation_self, err);
}

static int read_pipeline(struct opened_pipeline *opened, const struct registry *registry, const char *path,
                         struct assay_error *err)
{
	const struct assay_node *root;
	struct pipeline_file file = {0};
	struct pipeline *pipeline = &opened->pipeline;
	int status = yaml_read(opened->arena, path, &root, err);
	if (status == 0)
		status = schema_read(root, file_fields, &file, err);
	if (status == 0)
		status = read_stages(file.stages, &pipeline->stages, err);
	if (status == 0 && file.limits)
		status = limits_read(file.limits, &pipeline->run_limits, err);
	if (status == 0 && file.build_limits)
		status = limits_read(file.build_limits, &pipeline->build_limits, err);
	if (status == 0 && file.record)
		status = schema_read(file.record, record_fields, pipeline, err);
	if (status == 0)
		status = check_require(file.require, err);
	if (status == 0)
		status = open_isolation(opened, registry, file.isolation, err);
	pipeline->name = file.name.ptr;
	pipeline->require = file.require;
	pipeline->stop_at_first_failure = file.stop == 1;
	return status;
}

int pipeline_open(const struct registry *registry, const char *conf_root, const char *name, struct pipeline **ret,
                  struct assay_error *err)
{
	struct opened_pipeline *opened = xmalloc(sizeof(*opened));
	opened->arena = arena_new();
	const char *path = name;
	if (!strchr(name, '/') && !str_ends_with(str_of(name), STR(".yaml")))
		path = arena_printf(opened->arena, "%s/pipelines/%s.yaml", conf_root, name).ptr;
	int status = read_pipeline(opened, registry, path, err);
	if (status) {
		if (opened->pipeline.name == NULL)
			status = error_wrap(err, "pipeline '%s'", name);
		pipeline_close(&opened->pipeline);
		return status;
	}
	*ret = &opened->pipeline;
	return 0;
}

int pipeline_use_isolation(const struct registry *registry, struct pipeline *pipeline, const char *name,
                           struct assay_error *err)
{
	struct opened_pipeline *opened = (struct opened_pipeline *)pipeline;
	opened->ops->destroy(pipeline->isolation_self);
	opened->ops = NULL;
	pipeline->isolation_self = NULL;
	return open_isolation(opened, registry, node_new_text(opened->arena, str_of(name), true, NULL), err);
}

void pipeline_close(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	struct opened_pipeline *opened = (struct opened_pipeline *)pipeline;
	if (opened->ops)
		opened->ops->destroy(pipeline->isolation_self);
	arena_free(opened->arena);
	free(opened);
}
