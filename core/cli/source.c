/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "data/schema.h"
#include "data/yaml.h"

enum { KEY_TYPE = 1100, KEY_SET };

static const struct argp_option options[] = {
    {"dataset", 'd', "NAME|FILE", 0, "A configured dataset, or a file of rows (JSON lines, .gz and .zst too)", 10},
    {"type", KEY_TYPE, "TYPE", 0, "Dataset type; else told by the columns", 10},
    {"set", KEY_SET, "KEY=VALUE", 0, "Set an option of the dataset type (repeatable)", 10},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct dataset_options *dataset = state->input;
	switch (key) {
	case 'd':
		dataset->name = value;
		return 0;
	case KEY_TYPE:
		dataset->type = value;
		return 0;
	case KEY_SET:
		if (!strchr(value, '=') || dataset->setting_count == SETTINGS_MAX)
			argp_error(state, "--set takes KEY=VALUE, at most %d times", SETTINGS_MAX);
		dataset->settings[dataset->setting_count++] = value;
		return 0;
	case ARGP_KEY_END:
		if (!dataset->name)
			argp_error(state, "name a dataset with --dataset");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp dataset_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* An entry of conf/datasets/. */
struct entry {
	struct assay_str name, type, file, language;
	const struct assay_node *options;
};

static const struct schema_field entry_fields[] = {
    {"dataset", SCHEMA_STR, offsetof(struct entry, name), true, NULL, "its name; equals the file's"},
    {"type", SCHEMA_STR, offsetof(struct entry, type), true, NULL, "dataset type"},
    {"file", SCHEMA_STR, offsetof(struct entry, file), true, NULL, "rows, beside this file"},
    {"language", SCHEMA_STR, offsetof(struct entry, language), false, NULL, "of completions that name none"},
    {"options", SCHEMA_MAP, offsetof(struct entry, options), false, NULL, "of the dataset type"},
    {0},
};

static int read_entry(struct arena *arena, const char *conf_root, const struct dataset_options *given,
                      struct entry *ret, struct assay_error *err)
{
	const char *path = arena_printf(arena, "%s/datasets/%s.yaml", conf_root, given->name).ptr;
	const struct assay_node *root;
	if (strchr(given->name, '/') || access(path, F_OK)) {
		if (access(given->name, F_OK))
			return error_set(err, ASSAY_INVALID, 0, "'%s' is neither a file nor a dataset of '%s/datasets'",
			                 given->name, conf_root);
		ret->file = str_of(given->name);
		return 0;
	}
	int status = yaml_read(arena, path, &root, err);
	if (status == 0)
		status = schema_read(root, entry_fields, ret, err);
	if (status == 0 && ret->file.ptr[0] != '/')
		ret->file = arena_printf(arena, "%s/datasets/%s", conf_root, ret->file.ptr);
	return status;
}

/* The entry's options with those of --set over them. */
static const struct assay_node *merge_settings(struct arena *arena, const struct entry *entry,
                                               const struct dataset_options *given)
{
	struct assay_node **items =
	    arena_array(arena, node_count(entry->options) + given->setting_count, sizeof(struct assay_node *));
	size_t count = 0;
	for (size_t i = 0; i < given->setting_count; i++) {
		const char *equals = strchr(given->settings[i], '=');
		items[count] = node_new_text(arena, str_of(equals + 1), true, "--set");
		items[count++]->name =
		    arena_copy(arena, (struct assay_str){given->settings[i], (size_t)(equals - given->settings[i])});
	}
	for (size_t i = 0; i < node_count(entry->options); i++) {
		bool is_over = false;
		for (size_t k = 0; k < given->setting_count; k++)
			is_over |= str_equal(items[k]->name, node_key(entry->options, i));
		if (is_over)
			continue;
		items[count] = arena_alloc(arena, sizeof(struct assay_node));
		*items[count++] = *node_at(entry->options, i);
	}
	return node_new_parent(arena, ASSAY_NODE_MAP, items, count);
}

static int open_parts(const struct registry *registry, const char *conf_root, const struct dataset_options *given,
                      struct dataset_source *ret, struct assay_error *err)
{
	struct entry entry = {0};
	const struct assay_node *first;
	int status = read_entry(ret->arena, conf_root, given, &entry, err);
	if (status == 0)
		status = rows_open(entry.file.ptr, &ret->rows, err);
	if (status)
		return status;
	if (given->type)
		entry.type = str_of(given->type);
	if (entry.type.len == 0) {
		status = rows_parse(ret->rows, 0, ret->arena, &first, err);
		if (status == 0)
			status = dataset_guess_type(registry, first, &entry.type, err);
	}
	if (status == 0)
		status =
		    dataset_open(registry, entry.type, merge_settings(ret->arena, &entry, given), &ret->dataset, err);
	ret->language = entry.language;
	return status ? status : rows_index(ret->rows, ret->dataset, err);
}

int dataset_source_open(const struct registry *registry, const char *conf_root, const struct dataset_options *given,
                        struct dataset_source *ret, struct assay_error *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->arena = arena_new();
	int status = open_parts(registry, conf_root, given, ret, err);
	if (status)
		dataset_source_close(ret);
	return status;
}

void dataset_source_close(struct dataset_source *source)
{
	dataset_close(source->dataset);
	rows_close(source->rows);
	arena_free(source->arena);
	memset(source, 0, sizeof(*source));
}
