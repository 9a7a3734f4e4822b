/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include "data/schema.h"
#include "data/yaml.h"
#include "model/limits.h"

static const struct {
	enum assay_kind kind;
	const char *name, *folder;
} kinds[] = {
    {ASSAY_KIND_LANGUAGE, "language", "languages"},
    {ASSAY_KIND_ISOLATION, "isolation", "isolation"},
    {ASSAY_KIND_DATASET, "dataset", "datasets"},
};
static const char *const kind_choices[] = {"language", "isolation", "dataset", NULL};

const char *descriptor_kind_name(enum assay_kind kind)
{
	return kinds[kind - 1].name;
}

const char *descriptor_kind_folder(enum assay_kind kind)
{
	return kinds[kind - 1].folder;
}

bool descriptor_kind_parse(struct assay_str text, enum assay_kind *ret)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (!str_is(text, kinds[i].name) && !str_is(text, kinds[i].folder))
			continue;
		*ret = kinds[i].kind;
		return true;
	}
	return false;
}

/* Every key of the file, whatever the kind. */
struct file_keys {
	int64_t format;
	int kind;
	struct descriptor common;
	struct assay_str source;
	const struct assay_node *env, *build, *run;
};

#define COMMON(member) offsetof(struct file_keys, common.member)
#define COMMON_FIELDS                                                                                                    \
	{"assay", SCHEMA_INT, offsetof(struct file_keys, format), true, NULL, "version of this format: 1"},              \
	    {"kind", SCHEMA_ENUM, offsetof(struct file_keys, kind), true, kind_choices, "language, isolation, dataset"}, \
	    {"name", SCHEMA_STR, COMMON(name), true, NULL, "equals the folder's name"},                                  \
	    {"version", SCHEMA_STR, COMMON(version), true, NULL, "of the plugin"},                                       \
	    {"summary", SCHEMA_STR, COMMON(summary), true, NULL, "one line"},                                            \
	    {"module", SCHEMA_STR, COMMON(module), false, NULL, "shared object, without its ending"},                    \
	    {"options", SCHEMA_MAP, COMMON(options), false, NULL, "name: {type, default, help}"},                        \
	{                                                                                                                \
		"requires", SCHEMA_MAP, COMMON(needs), false, NULL, "programs and files of the host"                     \
	}

static const struct schema_field language_fields[] = {
    COMMON_FIELDS,
    {"aliases", SCHEMA_LIST, COMMON(aliases), false, NULL, "other names"},
    {"limits", SCHEMA_MAP, COMMON(limits), false, NULL, "build and run"},
    {"source", SCHEMA_STR, offsetof(struct file_keys, source), true, NULL, "file name of the code"},
    {"env", SCHEMA_MAP, offsetof(struct file_keys, env), false, NULL, "environment of both steps"},
    {"build", SCHEMA_MAP, offsetof(struct file_keys, build), false, NULL, "argv and env"},
    {"run", SCHEMA_MAP, offsetof(struct file_keys, run), false, NULL,
     "argv and env; a module of one's own may do without"},
    {0},
};
static const struct schema_field isolation_fields[] = {COMMON_FIELDS, {0}};
static const struct schema_field dataset_fields[] = {
    COMMON_FIELDS,
    {"columns", SCHEMA_MAP, COMMON(columns), true, NULL, "id, required"},
    {0},
};

/* -- checks to the leaves -- */

struct step_keys {
	const struct assay_node *argv, *env;
};

static const struct schema_field step_fields[] = {
    {"argv", SCHEMA_LIST, offsetof(struct step_keys, argv), true, NULL, "command and arguments"},
    {"env", SCHEMA_MAP, offsetof(struct step_keys, env), false, NULL, "environment"},
    {0},
};

static int check_texts(const struct assay_node *parent, struct assay_error *err)
{
	for (size_t i = 0; i < node_count(parent); i++) {
		struct assay_str text;
		int status = node_str(node_at(parent, i), &text, err);
		if (status)
			return status;
	}
	return 0;
}

static int check_env(const struct assay_node *env, struct assay_error *err)
{
	for (size_t i = 0; i < node_count(env); i++) {
		struct assay_str name = node_key(env, i);
		if (name.len == 0 || memchr(name.ptr, '=', name.len))
			return node_error(err, node_at(env, i), "'%.*s' is no name of an environment variable",
			                  STR_ARG(name));
	}
	return check_texts(env, err);
}

static int check_step(const struct assay_node *node, struct assay_error *err)
{
	struct step_keys step = {0};
	int status = node ? schema_read(node, step_fields, &step, err) : 0;
	if (status == 0 && node && node_count(step.argv) == 0)
		return node_error(err, step.argv, "argv must name a command");
	if (status == 0)
		status = check_texts(step.argv, err);
	return status ? status : check_env(step.env, err);
}

static int check_limits(const struct assay_node *node, struct assay_error *err)
{
	struct step_limits {
		const struct assay_node *build, *run;
	} both = {0};
	static const struct schema_field fields[] = {
	    {"build", SCHEMA_MAP, offsetof(struct step_limits, build), false, NULL, "limits"},
	    {"run", SCHEMA_MAP, offsetof(struct step_limits, run), false, NULL, "limits"},
	    {0},
	};
	struct limits limits;
	int status = node ? schema_read(node, fields, &both, err) : 0;
	if (status == 0 && both.build)
		status = limits_read(both.build, &limits, err);
	if (status == 0 && both.run)
		status = limits_read(both.run, &limits, err);
	return status;
}

static int check_columns(const struct assay_node *node, struct assay_error *err)
{
	struct columns {
		const struct assay_node *id, *required;
	} columns = {0};
	static const struct schema_field fields[] = {
	    {"id", SCHEMA_LIST, offsetof(struct columns, id), true, NULL, "columns that may hold the id, in order"},
	    {"required", SCHEMA_LIST, offsetof(struct columns, required), true, NULL, "columns every row has"},
	    {0},
	};
	int status = schema_read(node, fields, &columns, err);
	if (status == 0)
		status = check_texts(columns.id, err);
	if (status == 0)
		status = check_texts(columns.required, err);
	if (status == 0 && (node_count(columns.id) == 0 || node_count(columns.required) == 0))
		return node_error(err, node, "'id' and 'required' must name columns");
	return status;
}

static int check_need(const struct assay_node *node, bool is_program, struct assay_error *err)
{
	struct need {
		struct assay_str subject, package, hint;
	} need = {0};
	const struct schema_field fields[] = {
	    {is_program ? "name" : "path", SCHEMA_STR, offsetof(struct need, subject), true, NULL,
	     "what must be there"},
	    {"package", SCHEMA_STR, offsetof(struct need, package), false, NULL, "Debian package that brings it"},
	    {"hint", SCHEMA_STR, offsetof(struct need, hint), false, NULL, "how to get it otherwise"},
	    {0},
	};
	int status = schema_read(node, fields, &need, err);
	if (status == 0 && need.package.len == 0 && need.hint.len == 0)
		return node_error(err, node, "say how to get it, with 'package' or 'hint'");
	return status;
}

static int check_needs(const struct assay_node *node, struct assay_error *err)
{
	struct needs {
		const struct assay_node *programs, *files;
	} needs = {0};
	static const struct schema_field fields[] = {
	    {"programs", SCHEMA_LIST, offsetof(struct needs, programs), false, NULL, "{name, package, hint}"},
	    {"files", SCHEMA_LIST, offsetof(struct needs, files), false, NULL, "{path, package, hint}"},
	    {0},
	};
	int status = node ? schema_read(node, fields, &needs, err) : 0;
	for (size_t i = 0; status == 0 && i < node_count(needs.programs); i++)
		status = check_need(node_at(needs.programs, i), true, err);
	for (size_t i = 0; status == 0 && i < node_count(needs.files); i++)
		status = check_need(node_at(needs.files, i), false, err);
	return status;
}

/* -- options -- */

enum option_type { OPTION_TEXT, OPTION_INT, OPTION_REAL, OPTION_BOOL, OPTION_ENUM };
static const char *const option_types[] = {"text", "int", "real", "bool", "enum", NULL};

struct option {
	int type;
	const struct assay_node *fallback, *choices;
	struct assay_str help;
};

static const struct schema_field option_fields[] = {
    {"type", SCHEMA_ENUM, offsetof(struct option, type), true, option_types, "text, int, real, bool or enum"},
    {"default", SCHEMA_ANY, offsetof(struct option, fallback), true, NULL, "value when none is given"},
    {"of", SCHEMA_LIST, offsetof(struct option, choices), false, NULL, "choices of an enum"},
    {"help", SCHEMA_STR, offsetof(struct option, help), true, NULL, "one line"},
    {0},
};

static int check_choice(const struct assay_node *value, const struct option *option, struct assay_str text,
                        struct assay_error *err)
{
	auto_buffer struct buffer list = {0};
	for (size_t i = 0; i < node_count(option->choices); i++) {
		struct assay_str choice;
		int status = node_str(node_at(option->choices, i), &choice, err);
		if (status)
			return status;
		if (str_equal(choice, text))
			return 0;
		buffer_printf(&list, "%s%.*s", i ? ", " : "", STR_ARG(choice));
	}
	return node_error(err, value, "'%.*s' is no choice for this option; the choices are %s",
	                  STR_ARG(str_slice(text, 0, 60)), list.len ? list.data : "none");
}

/* A node of the option's own type, made from what was given. */
static int type_option(struct arena *arena, const struct option *option, const struct assay_node *value,
                       struct assay_node **ret, struct assay_error *err)
{
	struct assay_node *node = node_new(arena, ASSAY_NODE_STRING);
	int status = 0;
	switch ((enum option_type)option->type) {
	case OPTION_INT:
		node->kind = ASSAY_NODE_INT;
		status = node_int(value, &node->value.integer, err);
		break;
	case OPTION_REAL:
		node->kind = ASSAY_NODE_REAL;
		status = node_real(value, &node->value.real, err);
		break;
	case OPTION_BOOL:
		node->kind = ASSAY_NODE_BOOL;
		status = node_bool(value, &node->value.boolean, err);
		break;
	case OPTION_TEXT:
		if (node_kind(value) == ASSAY_NODE_NULL)
			node->value.string = STR("");
		else
			status = node_str(value, &node->value.string, err);
		break;
	case OPTION_ENUM:
		status = node_str(value, &node->value.string, err);
		if (status == 0)
			status = check_choice(value, option, node->value.string, err);
		break;
	}
	node->file = value->file;
	node->line = value->line;
	node->column = value->column;
	*ret = node;
	return status;
}

static int check_options(struct arena *arena, const struct assay_node *options, struct assay_error *err)
{
	for (size_t i = 0; i < node_count(options); i++) {
		struct option option = {0};
		struct assay_node *typed;
		int status = schema_read(node_at(options, i), option_fields, &option, err);
		if (status == 0)
			status = type_option(arena, &option, option.fallback, &typed, err);
		if (status)
			return status;
	}
	return 0;
}

static int unknown_option(const struct descriptor *descriptor, const struct assay_node *given, struct assay_error *err)
{
	const char *names[33] = {0};
	auto_buffer struct buffer list = {0};
	for (size_t i = 0; i < node_count(descriptor->options) && i < COUNT_OF(names) - 1; i++) {
		names[i] = node_key(descriptor->options, i).ptr;
		buffer_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = str_nearest(given->name, names);
	return node_error(err, given, "'%.*s' has no option '%.*s'%s%s%s", STR_ARG(descriptor->name),
	                  STR_ARG(given->name), near ? "; did you mean '" : "; it has ",
	                  near       ? near
	                  : list.len ? list.data
	                             : "none",
	                  near ? "'?" : "");
}

int descriptor_options(struct arena *arena, const struct descriptor *descriptor, const struct assay_node *given,
                       const struct assay_node **ret, struct assay_error *err)
{
	size_t count = node_count(descriptor->options);
	struct assay_node **items = arena_array(arena, count, sizeof(struct assay_node *));
	for (size_t i = 0; i < node_count(given); i++)
		if (!node_get(descriptor->options, node_key(given, i).ptr))
			return unknown_option(descriptor, node_at(given, i), err);
	for (size_t i = 0; i < count; i++) {
		struct option option = {0};
		const char *name = node_key(descriptor->options, i).ptr;
		const struct assay_node *value = node_get(given, name);
		int status = schema_read(node_at(descriptor->options, i), option_fields, &option, err);
		if (status == 0)
			status = type_option(arena, &option, value ? value : option.fallback, &items[i], err);
		if (status)
			return status;
		items[i]->name = node_key(descriptor->options, i);
	}
	*ret = node_new_parent(arena, ASSAY_NODE_MAP, items, count);
	return 0;
}

/* -- the file -- */

static int check_leaves(struct arena *arena, const struct file_keys *keys, struct assay_error *err)
{
	const struct descriptor *common = &keys->common;
	int status = check_options(arena, common->options, err);
	if (status == 0)
		status = check_needs(common->needs, err);
	if (status == 0)
		status = check_texts(common->aliases, err);
	if (status == 0)
		status = check_limits(common->limits, err);
	if (status == 0)
		status = check_step(keys->build, err);
	if (status == 0)
		status = check_step(keys->run, err);
	if (status == 0)
		status = check_env(keys->env, err);
	if (status == 0 && common->kind == ASSAY_KIND_LANGUAGE && !path_is_plain(keys->source))
		return node_error(err, node_get(common->root, "source"),
		                  "'%.*s' is no relative path without '.' or '..' parts", STR_ARG(keys->source));
	if (status == 0 && common->kind == ASSAY_KIND_DATASET)
		status = check_columns(common->columns, err);
	return status;
}

static int check_name(const struct descriptor *descriptor, struct assay_error *err)
{
	const char *folder = strrchr(descriptor->folder, '/');
	folder = folder ? folder + 1 : descriptor->folder;
	if (str_is(descriptor->name, folder))
		return 0;
	return node_error(err, node_get(descriptor->root, "name"), "the name '%.*s' must equal the folder's, '%s'",
	                  STR_ARG(descriptor->name), folder);
}

/* The kind decides which keys are known, so it is read first. */
static int read_kind(const struct assay_node *root, enum assay_kind *ret, struct assay_error *err)
{
	struct assay_str text;
	const struct assay_node *format = node_get(root, "assay"), *kind = node_get(root, "kind");
	int64_t version = 0;
	if (!format || !kind)
		return node_error(
		    err, root, "a plugin.yaml begins with 'assay: 1' and 'kind: language', 'isolation' or 'dataset'");
	int status = node_int(format, &version, err);
	if (status == 0 && version != 1)
		return node_error(err, format, "this Assay reads format 1 of plugin.yaml, not %lld",
		                  (long long)version);
	if (status == 0)
		status = node_str(kind, &text, err);
	if (status)
		return status;
	if (!descriptor_kind_parse(text, ret)) {
		const char *near = str_nearest(text, kind_choices);
		return node_error(err, kind, "unknown kind '%.*s'%s%s%s", STR_ARG(text), near ? "; did you mean '" : "",
		                  near ? near : "", near ? "'?" : "; there are language, isolation and dataset");
	}
	return 0;
}

int descriptor_read(struct arena *arena, const char *folder, struct descriptor *ret, struct assay_error *err)
{
	static const struct schema_field *const fields[] = {
	    [ASSAY_KIND_LANGUAGE] = language_fields,
	    [ASSAY_KIND_ISOLATION] = isolation_fields,
	    [ASSAY_KIND_DATASET] = dataset_fields,
	};
	const char *path = arena_printf(arena, "%s/" DESCRIPTOR_FILE, folder).ptr;
	struct file_keys keys = {0};
	const struct assay_node *root;
	enum assay_kind kind = ASSAY_KIND_LANGUAGE;
	int status = yaml_read(arena, path, &root, err);
	if (status == 0)
		status = read_kind(root, &kind, err);
	if (status == 0)
		status = schema_read(root, fields[kind], &keys, err);
	if (status)
		return status;
	keys.common.kind = kind;
	keys.common.root = root;
	keys.common.folder = arena_copy(arena, str_of(folder)).ptr;
	if (keys.common.module.len == 0)
		keys.common.module = kind == ASSAY_KIND_LANGUAGE ? STR("command") : keys.common.name;
	status = check_name(&keys.common, err);
	if (status == 0)
		status = check_leaves(arena, &keys, err);
	if (status == 0)
		*ret = keys.common;
	return status;
}
