/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/dataset.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "plugin/host.h"
#include <assay/dataset.h>

int dataset_open(const struct registry *registry, struct assay_str type, const struct assay_node *options,
                 struct dataset **ret, struct assay_error *err)
{
	const struct plugin *plugin;
	int status = registry_find(registry, ASSAY_KIND_DATASET, type, &plugin, err);
	if (status)
		return status;
	struct dataset *dataset = xmalloc(sizeof(*dataset));
	dataset->plugin = plugin;
	dataset->ops = plugin->module->ops;
	dataset->arena = arena_new();
	const struct assay_node *all;
	status = descriptor_options(dataset->arena, &plugin->descriptor, options, &all, err);
	if (status == 0)
		status = dataset->ops->create(&host_services, all, &dataset->self, err);
	if (status) {
		dataset_close(dataset);
		return status;
	}
	*ret = dataset;
	return 0;
}

void dataset_close(struct dataset *dataset)
{
	if (!dataset)
		return;
	dataset->ops->destroy(dataset->self);
	arena_free(dataset->arena);
	free(dataset);
}

static bool has_columns(const struct assay_node *row, const struct assay_node *names)
{
	for (size_t i = 0; i < node_count(names); i++) {
		struct assay_str name;
		if (node_str(node_at(names, i), &name, NULL) || !node_get(row, name.ptr))
			return false;
	}
	return node_count(names) > 0;
}

int dataset_guess_type(const struct registry *registry, const struct assay_node *row, struct assay_str *ret,
                       struct assay_error *err)
{
	size_t matches = 0;
	auto_buffer struct buffer names = {0}, matching = {0};
	for (size_t i = 0; i < registry_count(registry); i++) {
		const struct plugin *plugin = registry_at(registry, i);
		if (plugin->kind != ASSAY_KIND_DATASET || plugin->problem.status)
			continue;
		buffer_printf(&names, "%s%s", names.len ? ", " : "", plugin->name);
		if (!has_columns(row, node_get(plugin->descriptor.columns, "required")))
			continue;
		buffer_printf(&matching, "%s%s", matching.len ? ", " : "", plugin->name);
		*ret = plugin->descriptor.name;
		matches++;
	}
	if (matches == 1)
		return 0;
	if (matches == 0)
		return node_error(err, row, "the columns are those of no dataset type here; say which with --type (%s)",
		                  names.len ? names.data : "there are none");
	return node_error(err, row, "the columns fit several dataset types; say which with --type (%s)", matching.data);
}

int dataset_row_id(const struct dataset *dataset, const struct assay_node *row, const struct assay_node **ret_id,
                   struct assay_str *ret_column, struct assay_error *err)
{
	const struct assay_node *names = node_get(dataset->plugin->descriptor.columns, "id");
	for (size_t i = 0; i < node_count(names); i++) {
		int status = node_str(node_at(names, i), ret_column, err);
		if (status)
			return status;
		const struct assay_node *id = node_get(row, ret_column->ptr);
		if (!id)
			continue;
		if (node_kind(id) != ASSAY_NODE_STRING && node_kind(id) != ASSAY_NODE_INT)
			return node_error(err, id, "an id is text or a whole number, not %s", node_kind_name(id->kind));
		*ret_id = id;
		return 0;
	}
	return node_error(err, row, "the row has no id (column '%.*s')", STR_ARG(*ret_column));
}

struct prompt_result {
	struct arena *arena;
	struct assay_str text;
	int calls;
};

static int keep_prompt(void *arg, struct assay_str text, struct assay_error *err)
{
	(void)err;
	struct prompt_result *result = arg;
	result->text = arena_copy(result->arena, text);
	result->calls++;
	return 0;
}

int dataset_prompt(const struct dataset *dataset, struct arena *arena, const struct assay_node *row,
                   struct assay_str *ret, struct assay_error *err)
{
	struct prompt_result result = {.arena = arena};
	const struct assay_problem problem = {.size = sizeof(problem), .scope = scope_of(arena), .row = row};
	const struct assay_prompt_sink sink = {.size = sizeof(sink), .arg = &result, .prompt = keep_prompt};
	int status = dataset->ops->prompt(dataset->self, &problem, &sink, err);
	if (status)
		return status;
	if (result.calls != 1)
		return error_set(err, ASSAY_INTERNAL, 0, "dataset type '%s' gave %d prompts for a row",
		                 dataset->plugin->name, result.calls);
	*ret = result.text;
	return 0;
}
