/* SPDX-License-Identifier: Apache-2.0 */
#include "data/node.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/str.h"

enum assay_node_kind node_kind(const struct assay_node *node)
{
	return node ? node->kind : ASSAY_NODE_NULL;
}

const char *node_kind_name(enum assay_node_kind kind)
{
	switch (kind) {
	case ASSAY_NODE_NULL:
		return "nothing";
	case ASSAY_NODE_BOOL:
		return "true or false";
	case ASSAY_NODE_INT:
		return "a whole number";
	case ASSAY_NODE_REAL:
		return "a number";
	case ASSAY_NODE_STRING:
		return "text";
	case ASSAY_NODE_LIST:
		return "a list";
	case ASSAY_NODE_MAP:
		return "a map";
	}
	return "?";
}

static bool is_parent(const struct assay_node *node)
{
	return node && (node->kind == ASSAY_NODE_LIST || node->kind == ASSAY_NODE_MAP);
}

size_t node_count(const struct assay_node *node)
{
	return is_parent(node) ? node->value.children.count : 0;
}

const struct assay_node *node_get(const struct assay_node *map, const char *key)
{
	if (node_kind(map) != ASSAY_NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->value.children.count; i++)
		if (str_is(map->value.children.items[i]->name, key))
			return map->value.children.items[i];
	return NULL;
}

const struct assay_node *node_at(const struct assay_node *node, size_t index)
{
	return index < node_count(node) ? node->value.children.items[index] : NULL;
}

struct assay_str node_key(const struct assay_node *map, size_t index)
{
	const struct assay_node *child = node_kind(map) == ASSAY_NODE_MAP ? node_at(map, index) : NULL;
	return child ? child->name : STR("");
}

void node_path(struct buffer *out, const struct assay_node *node)
{
	if (!node || !node->parent) {
		if (out->len == 0)
			buffer_append_char(out, '$');
		return;
	}
	if (node->parent->parent)
		node_path(out, node->parent);
	if (node->parent->kind == ASSAY_NODE_LIST)
		buffer_printf(out, "%s[%zu]", out->len ? "" : "$", node->index);
	else
		buffer_printf(out, "%s%.*s", out->len ? "." : "", STR_ARG(node->name));
}

int node_error_v(struct assay_error *err, const struct assay_node *where, const char *format, va_list args)
{
	if (!where || !where->file)
		return error_set_v(err, ASSAY_INVALID, 0, format, args);
	int status = error_at_v(err, where->file, where->line, where->column, format, args);
	if (where->column == 0) { /* JSON: the line alone does not say where */
		auto_buffer struct buffer path = {0};
		node_path(&path, where);
		error_wrap(err, "%s", path.data);
	}
	return status;
}

int node_error(struct assay_error *err, const struct assay_node *where, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int status = node_error_v(err, where, format, args);
	va_end(args);
	return status;
}

static int wrong_kind(const struct assay_node *node, const char *wanted, struct assay_error *err)
{
	if (!node)
		return node_error(err, node, "a value is missing: %s", wanted);
	if (node->kind == ASSAY_NODE_STRING)
		return node_error(err, node, "'%.*s' is not %s", STR_ARG(str_slice(node->value.string, 0, 60)), wanted);
	return node_error(err, node, "this is %s, not %s", node_kind_name(node->kind), wanted);
}

static bool is_plain_text(const struct assay_node *node)
{
	return node_kind(node) == ASSAY_NODE_STRING && node->is_plain;
}

int node_str(const struct assay_node *node, struct assay_str *ret, struct assay_error *err)
{
	if (node_kind(node) != ASSAY_NODE_STRING)
		return wrong_kind(node, "text", err);
	*ret = node->value.string;
	return 0;
}

int node_int(const struct assay_node *node, int64_t *ret, struct assay_error *err)
{
	if (node_kind(node) == ASSAY_NODE_INT) {
		*ret = node->value.integer;
		return 0;
	}
	if (is_plain_text(node) && parse_int64(node->value.string, ret))
		return 0;
	return wrong_kind(node, "a whole number", err);
}

int node_real(const struct assay_node *node, double *ret, struct assay_error *err)
{
	if (node_kind(node) == ASSAY_NODE_REAL)
		*ret = node->value.real;
	else if (node_kind(node) == ASSAY_NODE_INT)
		*ret = (double)node->value.integer;
	else if (!is_plain_text(node) || !parse_real(node->value.string, ret))
		return wrong_kind(node, "a number", err);
	return 0;
}

int node_bool(const struct assay_node *node, bool *ret, struct assay_error *err)
{
	if (node_kind(node) == ASSAY_NODE_BOOL) {
		*ret = node->value.boolean;
		return 0;
	}
	if (is_plain_text(node) && (str_is(node->value.string, "true") || str_is(node->value.string, "false"))) {
		*ret = str_is(node->value.string, "true");
		return 0;
	}
	return wrong_kind(node, "true or false", err);
}

int node_duration(const struct assay_node *node, int64_t *ret_ns, struct assay_error *err)
{
	if (is_plain_text(node) && parse_duration(node->value.string, ret_ns))
		return 0;
	return wrong_kind(node, "a time with its unit, such as 10s, 250ms or 2m", err);
}

int node_size(const struct assay_node *node, uint64_t *ret_bytes, struct assay_error *err)
{
	if (is_plain_text(node) && parse_size(node->value.string, ret_bytes))
		return 0;
	return wrong_kind(node, "a size with its unit, such as 512MiB, 64KiB or 1GiB", err);
}

struct assay_node *node_new(struct arena *arena, enum assay_node_kind kind)
{
	struct assay_node *node = arena_alloc(arena, sizeof(*node));
	node->kind = kind;
	return node;
}

struct assay_node *node_new_text(struct arena *arena, struct assay_str text, bool is_plain, const char *file)
{
	struct assay_node *node = node_new(arena, ASSAY_NODE_STRING);
	node->value.string = arena_copy(arena, text);
	node->is_plain = is_plain;
	node->file = file;
	return node;
}

struct assay_node *node_new_parent(struct arena *arena, enum assay_node_kind kind, struct assay_node *const *items,
                                   size_t count)
{
	struct assay_node *parent = node_new(arena, kind);
	struct assay_node **copy = arena_array(arena, count, sizeof(*copy));
	if (count)
		memcpy(copy, items, count * sizeof(*copy));
	for (size_t i = 0; i < count; i++) {
		copy[i]->parent = parent;
		copy[i]->index = i;
	}
	parent->value.children.items = copy;
	parent->value.children.count = count;
	return parent;
}
