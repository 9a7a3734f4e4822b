/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml's events, stacked into nodes. The event interface rather than the document one, for it lets the bounds act
 * while the text is read: a few kilobytes of brackets cost libyaml alone seconds.
 */
#include "data/yaml.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include <yaml.h>

#define TEXT_MAX   ((size_t)1 << 20)
#define DEPTH_MAX  32
#define NODES_MAX  50000
#define SCALAR_MAX ((size_t)64 << 10)

/* A map or list that is still open. */
struct level {
	struct assay_node *place; /* holds kind and position; the parent is made of it when it closes */
	struct assay_node **items;
	size_t count, room;
	struct assay_node *key; /* of a map: read, and waiting for its value */
};

struct reader {
	struct arena *arena;
	struct assay_str text;
	const char *file;
	yaml_parser_t parser;
	struct level levels[DEPTH_MAX];
	size_t depth;
	size_t nodes;
	struct assay_node *root;
	bool is_over;
	struct assay_error *err;
};

static int fail(struct reader *reader, yaml_mark_t mark, const char *message)
{
	return error_at(reader->err, reader->file, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1, "%s", message);
}

/* Bad UTF-8 and control characters come with an offset instead of a mark. */
static int fail_at_offset(struct reader *reader)
{
	yaml_mark_t mark = {0};
	size_t end = MIN(reader->parser.problem_offset, reader->text.len);
	for (size_t i = 0; i < end; i++) {
		mark.column++;
		if (reader->text.ptr[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return fail(reader, mark, reader->parser.problem);
}

static int parser_error(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	if (parser->error == YAML_READER_ERROR)
		return fail_at_offset(reader);
	if (!parser->problem)
		return error_set(reader->err, ASSAY_INTERNAL, 0, "libyaml failed on '%s'", reader->file);
	return fail(reader, parser->problem_mark, parser->problem);
}

static struct assay_node *node_at_mark(struct reader *reader, enum assay_node_kind kind, yaml_mark_t mark)
{
	struct assay_node *node = node_new(reader->arena, kind);
	node->file = reader->file;
	node->line = (uint32_t)mark.line + 1;
	node->column = (uint32_t)mark.column + 1;
	return node;
}

static int check_key(struct reader *reader, const struct level *level, const struct assay_node *key, yaml_mark_t mark)
{
	if (key->kind != ASSAY_NODE_STRING)
		return fail(reader, mark, "a key must be text");
	for (size_t i = 0; i < level->count; i++)
		if (str_equal(level->items[i]->name, key->value.string))
			return node_error(reader->err, key, "the key '%.*s' stands here twice; the first is on line %u",
			                  STR_ARG(key->value.string), level->items[i]->line);
	return 0;
}

/* A finished value: the root, a key, or a child of the innermost open level. */
static int place(struct reader *reader, struct assay_node *node, yaml_mark_t mark)
{
	if (reader->depth == 0) {
		reader->root = node;
		return 0;
	}
	struct level *level = &reader->levels[reader->depth - 1];
	if (level->place->kind == ASSAY_NODE_MAP && !level->key) {
		level->key = node;
		return check_key(reader, level, node, mark);
	}
	if (level->key)
		node->name = level->key->value.string;
	level->key = NULL;
	if (level->count == level->room) {
		level->room = 2 * level->room + 8;
		struct assay_node **items = arena_array(reader->arena, level->room, sizeof(struct assay_node *));
		if (level->count)
			memcpy(items, level->items, level->count * sizeof(struct assay_node *));
		level->items = items;
	}
	level->items[level->count++] = node;
	return 0;
}

static bool is_null(struct assay_str text)
{
	return text.len == 0 || str_is(text, "~") || str_is(text, "null");
}

static int take_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct assay_str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
	bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (event->data.scalar.anchor || event->data.scalar.tag)
		return fail(reader, event->start_mark, "anchors and tags are not used in configuration files");
	if (text.len > SCALAR_MAX)
		return fail(reader, event->start_mark, "this text is longer than 64 KiB");
	if (memchr(text.ptr, 0, text.len))
		return fail(reader, event->start_mark, "this text holds a NUL character");
	enum assay_node_kind kind = is_plain && is_null(text) ? ASSAY_NODE_NULL : ASSAY_NODE_STRING;
	struct assay_node *node = node_at_mark(reader, kind, event->start_mark);
	node->value.string = arena_copy(reader->arena, text);
	node->is_plain = is_plain;
	return place(reader, node, event->start_mark);
}

static int open_level(struct reader *reader, const yaml_event_t *event, enum assay_node_kind kind, bool has_extras)
{
	if (has_extras)
		return fail(reader, event->start_mark, "anchors and tags are not used in configuration files");
	if (reader->depth == DEPTH_MAX)
		return fail(reader, event->start_mark, "values are nested more than 32 deep");
	reader->levels[reader->depth++] = (struct level){.place = node_at_mark(reader, kind, event->start_mark)};
	return 0;
}

static int close_level(struct reader *reader, const yaml_event_t *event)
{
	struct level *level = &reader->levels[--reader->depth];
	struct assay_node *made = node_new_parent(reader->arena, level->place->kind, level->items, level->count);
	made->file = level->place->file;
	made->line = level->place->line;
	made->column = level->place->column;
	return place(reader, made, event->start_mark);
}

static int take(struct reader *reader, const yaml_event_t *event)
{
	if (++reader->nodes > NODES_MAX)
		return fail(reader, event->start_mark, "this file holds more than 50,000 values");
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(reader, event);
	case YAML_MAPPING_START_EVENT:
		return open_level(reader, event, ASSAY_NODE_MAP,
		                  event->data.mapping_start.anchor || event->data.mapping_start.tag);
	case YAML_SEQUENCE_START_EVENT:
		return open_level(reader, event, ASSAY_NODE_LIST,
		                  event->data.sequence_start.anchor || event->data.sequence_start.tag);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return close_level(reader, event);
	case YAML_ALIAS_EVENT:
		return fail(reader, event->start_mark, "aliases are not used in configuration files");
	case YAML_DOCUMENT_START_EVENT:
		return reader->root ? fail(reader, event->start_mark, "only one document is allowed in a file") : 0;
	case YAML_STREAM_END_EVENT:
		reader->is_over = true;
		return 0;
	default:
		return 0;
	}
}

static int read_events(struct reader *reader)
{
	int status = 0;
	while (status == 0 && !reader->is_over) {
		yaml_event_t event;
		if (!yaml_parser_parse(&reader->parser, &event))
			return parser_error(reader);
		status = take(reader, &event);
		yaml_event_delete(&event);
	}
	return status;
}

int yaml_parse(struct arena *arena, struct assay_str text, const char *file, const struct assay_node **ret,
               struct assay_error *err)
{
	const char *name = arena_copy(arena, str_of(file)).ptr;
	if (text.len > TEXT_MAX)
		return error_at(err, name, 0, 0, "the file is larger than 1 MiB");
	struct reader reader = {.arena = arena, .text = text, .file = name, .err = err};
	if (!yaml_parser_initialize(&reader.parser))
		return error_set(err, ASSAY_INTERNAL, 0, "libyaml cannot be set up");
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(text.ptr ? text.ptr : ""), text.len);
	int status = read_events(&reader);
	yaml_parser_delete(&reader.parser);
	if (status)
		return status;
	if (node_kind(reader.root) != ASSAY_NODE_MAP)
		return error_at(err, name, 1, 1, "the file must hold a map of keys and values");
	*ret = reader.root;
	return 0;
}

int yaml_read(struct arena *arena, const char *path, const struct assay_node **ret, struct assay_error *err)
{
	auto_buffer struct buffer text = {0};
	int status = file_read(path, TEXT_MAX, &text, err);
	return status ? status : yaml_parse(arena, buffer_str(&text), path, ret, err);
}
