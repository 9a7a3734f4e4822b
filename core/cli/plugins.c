/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/str.h"
#include "cli/common.h"
#include "data/json.h"
#include <stdio.h>

struct plugins_options {
	struct places places;
	bool has_kind, as_json;
	enum assay_kind kind;
};

enum { KEY_JSON = 2000 };

static const struct argp_option options[] = {{"json", KEY_JSON, NULL, 0, "Print JSON", 0}, {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct plugins_options *plugins = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &plugins->places;
		return 0;
	case KEY_JSON:
		plugins->as_json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (plugins->has_kind || !descriptor_kind_parse(str_of(value), &plugins->kind))
			argp_error(state, "'%s' is no kind; there are language, isolation and dataset", value);
		plugins->has_kind = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&places_argp, 0, "Where things are:", 90}, {0}};
static const struct argp argp = {
    options,  parse, "[KIND]", "List languages, isolation backends and dataset types, and what keeps any from working.",
    children, NULL,  NULL};

static const char *state_of(const struct plugin *plugin)
{
	return plugin->problem.status ? "broken" : plugin->missing.len ? "unavailable" : "ready";
}

static struct assay_str reason_of(const struct plugin *plugin, char text[ERROR_TEXT_MAX])
{
	if (plugin->problem.status)
		return str_of(error_format(&plugin->problem, text, ERROR_TEXT_MAX));
	return plugin->missing;
}

static void print_row(const struct plugin *plugin)
{
	char text[ERROR_TEXT_MAX];
	const struct descriptor *descriptor = &plugin->descriptor;
	struct assay_str reason = reason_of(plugin, text);
	printf("%-10s %-14s %-8.*s %-10.*s %-12s %.*s\n", descriptor_kind_name(plugin->kind), plugin->name,
	       STR_ARG(descriptor->version), STR_ARG(descriptor->module), state_of(plugin),
	       STR_ARG(reason.len ? reason : descriptor->summary));
}

static struct json_object *row_json(const struct plugin *plugin)
{
	char text[ERROR_TEXT_MAX];
	const struct descriptor *descriptor = &plugin->descriptor;
	struct json_object *map = json_map(), *aliases = json_list();
	json_add_str(map, "kind", str_of(descriptor_kind_name(plugin->kind)));
	json_add_str(map, "name", str_of(plugin->name));
	for (size_t i = 0; i < node_count(descriptor->aliases); i++) {
		struct assay_str alias;
		if (node_str(node_at(descriptor->aliases, i), &alias, NULL) == 0)
			json_push_str(aliases, alias);
	}
	json_add(map, "aliases", aliases);
	json_add_str(map, "version", descriptor->version);
	json_add_str(map, "summary", descriptor->summary);
	json_add_str(map, "module", descriptor->module);
	json_add_str(map, "folder", str_of(descriptor->folder));
	json_add_str(map, "state", str_of(state_of(plugin)));
	json_add_str(map, "reason", reason_of(plugin, text));
	return map;
}

static void print_all(const struct plugins_options *plugins, const struct registry *registry)
{
	auto_json struct json_object *list = json_list();
	if (!plugins->as_json)
		printf("%-10s %-14s %-8s %-10s %-12s %s\n", "KIND", "NAME", "VERSION", "MODULE", "STATE", "ABOUT");
	for (size_t i = 0; i < registry_count(registry); i++) {
		const struct plugin *plugin = registry_at(registry, i);
		if (plugins->has_kind && plugin->kind != plugins->kind)
			continue;
		if (plugins->as_json)
			json_push(list, row_json(plugin));
		else
			print_row(plugin);
	}
	if (plugins->as_json) {
		auto_buffer struct buffer text = {0};
		json_print(list, &text);
		printf("%s\n", text.data);
	}
}

int verb_plugins(int argc, char **argv)
{
	struct plugins_options plugins = {0};
	struct assay_error err = {0};
	struct registry *registry = NULL;
	argp_parse(&argp, argc, argv, 0, NULL, &plugins);
	int status = places_complete(&plugins.places, &err);
	if (status == 0)
		status = places_open_registry(&plugins.places, &registry, &err);
	if (status == 0)
		print_all(&plugins, registry);
	registry_close(registry);
	places_close(&plugins.places);
	return status ? report(&err) : EXIT_OK;
}
