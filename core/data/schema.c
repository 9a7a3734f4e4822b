/* SPDX-License-Identifier: Apache-2.0 */
#include "data/schema.h"
#include "base/error.h"
#include "base/str.h"

#define FIELDS_MAX 64

static int unknown_key(const struct assay_node *node, const struct schema_field *fields, struct assay_error *err)
{
	const char *names[FIELDS_MAX + 1] = {0};
	auto_buffer struct buffer list = {0};
	for (size_t i = 0; fields[i].name && i < FIELDS_MAX; i++) {
		names[i] = fields[i].name;
		buffer_printf(&list, "%s%s", i ? ", " : "", fields[i].name);
	}
	const char *near = str_nearest(node->name, names);
	if (near)
		return node_error(err, node, "unknown key '%.*s'; did you mean '%s'?", STR_ARG(node->name), near);
	return node_error(err, node, "unknown key '%.*s'; the keys here are %s", STR_ARG(node->name), list.data);
}

static int read_enum(const struct assay_node *node, const char *const *choices, int *ret, struct assay_error *err)
{
	struct assay_str text;
	int status = node_str(node, &text, err);
	if (status)
		return status;
	auto_buffer struct buffer list = {0};
	for (int i = 0; choices[i]; i++) {
		if (str_is(text, choices[i])) {
			*ret = i;
			return 0;
		}
		buffer_printf(&list, "%s%s", i ? ", " : "", choices[i]);
	}
	const char *near = str_nearest(text, choices);
	if (near)
		return node_error(err, node, "'%.*s' is no choice for %.*s; did you mean '%s'?",
		                  STR_ARG(str_slice(text, 0, 60)), STR_ARG(node->name), near);
	return node_error(err, node, "'%.*s' is no choice for %.*s; the choices are %s",
	                  STR_ARG(str_slice(text, 0, 60)), STR_ARG(node->name), list.data);
}

static int read_field(const struct assay_node *node, const struct schema_field *field, void *place,
                      struct assay_error *err)
{
	enum assay_node_kind wanted = field->type == SCHEMA_MAP ? ASSAY_NODE_MAP : ASSAY_NODE_LIST;
	switch (field->type) {
	case SCHEMA_STR:
		return node_str(node, place, err);
	case SCHEMA_INT:
		return node_int(node, place, err);
	case SCHEMA_REAL:
		return node_real(node, place, err);
	case SCHEMA_BOOL:
		return node_bool(node, place, err);
	case SCHEMA_DURATION:
		return node_duration(node, place, err);
	case SCHEMA_SIZE:
		return node_size(node, place, err);
	case SCHEMA_ENUM:
		return read_enum(node, field->choices, place, err);
	case SCHEMA_MAP:
	case SCHEMA_LIST:
		if (node->kind != wanted)
			return node_error(err, node, "'%s' must be %s", field->name, node_kind_name(wanted));
		__attribute__((fallthrough));
	case SCHEMA_ANY:
		*(const struct assay_node **)place = node;
		return 0;
	}
	return error_set(err, ASSAY_INTERNAL, 0, "unknown schema type %d", (int)field->type);
}

static const struct schema_field *find_field(const struct schema_field *fields, struct assay_str name)
{
	for (; fields->name; fields++)
		if (str_is(name, fields->name))
			return fields;
	return NULL;
}

int schema_read(const struct assay_node *map, const struct schema_field *fields, void *out, struct assay_error *err)
{
	if (node_kind(map) != ASSAY_NODE_MAP)
		return node_error(err, map, "this must be a map, not %s", node_kind_name(node_kind(map)));
	for (size_t i = 0; i < node_count(map); i++) {
		const struct assay_node *node = node_at(map, i);
		const struct schema_field *field = find_field(fields, node->name);
		int status =
		    field ? read_field(node, field, (char *)out + field->offset, err) : unknown_key(node, fields, err);
		if (status)
			return status;
	}
	for (; fields->name; fields++)
		if (fields->is_required && !node_get(map, fields->name))
			return node_error(err, map, "the key '%s' is missing (%s)", fields->name, fields->help);
	return 0;
}
