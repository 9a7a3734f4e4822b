/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json-c does the parsing; what it lets pass though RFC 8259 does not (raw control characters, "1.", NaN, names given
 * twice, a NUL that cuts a name short, integers it clamps) is found before by one walk over the text.
 */
#include "data/json.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include <ctype.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>

#define DEPTH_MAX 64

struct source {
	struct assay_str text;
	const char *file;
	uint32_t line;
	struct assay_error *err;
};

static int fail(const struct source *source, size_t offset, const char *message)
{
	return error_at(source->err, source->file, source->line, 0, "byte %zu: %s", offset + 1, message);
}

/* The string that begins at *at: moves *at behind it. */
static int scan_string(const struct source *source, size_t *at, size_t *members)
{
	const char *text = source->text.ptr;
	size_t len = source->text.len, i = *at + 1;
	bool has_nul = false;
	for (; i < len && text[i] != '"'; i++) {
		if ((unsigned char)text[i] < 0x20)
			return fail(source, i, "a control character in a string must be escaped");
		if (text[i] != '\\')
			continue;
		has_nul |= len - i > 5 && !memcmp(text + i, "\\u0000", 6);
		i++;
	}
	size_t begin = *at;
	*at = ++i;
	while (i < len && isspace((unsigned char)text[i]))
		i++;
	if (i < len && text[i] == ':') {
		++*members;
		if (has_nul)
			return fail(source, begin, "a name must not hold \\u0000");
	}
	return 0;
}

static int scan_number(const struct source *source, size_t *at)
{
	const char *text = source->text.ptr;
	size_t end = *at;
	while (end < source->text.len && text[end] && strchr("+-.0123456789eE", text[end]))
		end++;
	struct assay_str number = str_slice(source->text, *at, end);
	bool is_integer = !memchr(number.ptr, '.', number.len) && !memchr(number.ptr, 'e', number.len) &&
	                  !memchr(number.ptr, 'E', number.len);
	if (number.len > 1 && number.ptr[number.len - 1] == '.')
		return fail(source, *at, "digits must follow the point of a number");
	for (size_t i = 0; i + 1 < number.len; i++)
		if (number.ptr[i] == '.' && !isdigit((unsigned char)number.ptr[i + 1]))
			return fail(source, *at, "digits must follow the point of a number");
	if (is_integer && number.len > 19 + (number.ptr[0] == '-'))
		return fail(source, *at, "an integer of more than 19 digits");
	*at = end;
	return 0;
}

/* Refuses what json-c accepts; *ret_members is how many names with a value the text has. */
static int scan(const struct source *source, size_t *ret_members)
{
	const char *text = source->text.ptr;
	size_t valid = utf8_valid_prefix(text, source->text.len), at = 0;
	int status = 0;
	*ret_members = 0;
	if (valid < source->text.len)
		return fail(source, valid, "the text is not UTF-8");
	while (status == 0 && at < source->text.len) {
		char c = text[at];
		if (c == '"')
			status = scan_string(source, &at, ret_members);
		else if (c == '-' || isdigit((unsigned char)c))
			status = scan_number(source, &at);
		else if (c == 0 || c == 'N' || c == 'I' || c == '/' || c == '\'' || c == '\f' || c == '\v')
			return fail(source, at, "this is not JSON");
		else
			at++;
	}
	return status;
}

static struct assay_node *convert(struct arena *arena, struct json_object *object, const struct source *source,
                                  size_t *members);

static struct assay_node *convert_array(struct arena *arena, struct json_object *object, const struct source *source,
                                        size_t *members)
{
	size_t count = json_object_array_length(object);
	struct assay_node **items = arena_array(arena, count, sizeof(struct assay_node *));
	for (size_t i = 0; i < count; i++)
		items[i] = convert(arena, json_object_array_get_idx(object, i), source, members);
	return node_new_parent(arena, ASSAY_NODE_LIST, items, count);
}

static struct assay_node *convert_map(struct arena *arena, struct json_object *object, const struct source *source,
                                      size_t *members)
{
	size_t count = (size_t)json_object_object_length(object), i = 0;
	struct assay_node **items = arena_array(arena, count, sizeof(struct assay_node *));
	*members += count;
	json_object_object_foreach(object, key, value)
	{
		items[i] = convert(arena, value, source, members);
		items[i++]->name = arena_copy(arena, str_of(key));
	}
	return node_new_parent(arena, ASSAY_NODE_MAP, items, count);
}

static struct assay_node *convert_integer(struct arena *arena, struct json_object *object)
{
	bool fits = json_object_get_int64(object) < INT64_MAX || json_object_get_uint64(object) <= INT64_MAX;
	struct assay_node *node = node_new(arena, fits ? ASSAY_NODE_INT : ASSAY_NODE_REAL);
	if (fits)
		node->value.integer = json_object_get_int64(object);
	else
		node->value.real = (double)json_object_get_uint64(object);
	return node;
}

static struct assay_node *convert(struct arena *arena, struct json_object *object, const struct source *source,
                                  size_t *members)
{
	struct assay_node *node;
	switch (json_object_get_type(object)) {
	case json_type_array:
		node = convert_array(arena, object, source, members);
		break;
	case json_type_object:
		node = convert_map(arena, object, source, members);
		break;
	case json_type_int:
		node = convert_integer(arena, object);
		break;
	case json_type_boolean:
		node = node_new(arena, ASSAY_NODE_BOOL);
		node->value.boolean = json_object_get_boolean(object);
		break;
	case json_type_double:
		node = node_new(arena, ASSAY_NODE_REAL);
		node->value.real = json_object_get_double(object);
		break;
	case json_type_string:
		node = node_new(arena, ASSAY_NODE_STRING);
		node->value.string = arena_copy(arena, (struct assay_str){json_object_get_string(object),
		                                                          (size_t)json_object_get_string_len(object)});
		break;
	default:
		node = node_new(arena, ASSAY_NODE_NULL);
	}
	node->file = source->file;
	node->line = source->line;
	return node;
}

/* One value and nothing but blanks after it; NULL after an error. */
static struct json_object *parse_text(const struct source *source)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX + 1);
	if (!tokener || source->text.len > INT32_MAX) {
		error_set(source->err, ASSAY_LIMIT, 0, "the JSON text is too large");
		json_tokener_free(tokener);
		return NULL;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	struct json_object *object = json_tokener_parse_ex(tokener, source->text.ptr, (int)source->text.len);
	if (json_tokener_get_error(tokener) == json_tokener_continue) /* a bare number ends only with the text */
		object = json_tokener_parse_ex(tokener, "", 1);
	enum json_tokener_error problem = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (problem == json_tokener_continue)
		problem = json_tokener_error_parse_eof;
	if (problem != json_tokener_success)
		fail(source, MIN(end, source->text.len), json_tokener_error_desc(problem));
	return problem == json_tokener_success ? object : NULL;
}

int json_parse(struct arena *arena, struct assay_str text, const char *file, uint32_t line,
               const struct assay_node **ret, struct assay_error *err)
{
	struct assay_error failure = {0};
	const struct source source = {.text = str_trim(text), .file = file, .line = line, .err = &failure};
	size_t wanted, found = 0;
	if (source.text.len == 0)
		fail(&source, 0, "there is no value");
	else if (scan(&source, &wanted) == 0) {
		struct json_object *object = parse_text(&source);
		if (!failure.status) {
			*ret = convert(arena, object, &source, &found);
			if (found != wanted)
				fail(&source, 0, "a name stands twice in one object");
		}
		json_object_put(object);
	}
	if (failure.status && err)
		*err = failure;
	return failure.status;
}

struct json_object *json_map(void)
{
	return json_object_new_object();
}

struct json_object *json_list(void)
{
	return json_object_new_array();
}

static struct json_object *new_text(struct assay_str bytes, bool *ret_replaced)
{
	size_t valid = utf8_valid_prefix(bytes.ptr, bytes.len);
	*ret_replaced = valid < bytes.len;
	if (!*ret_replaced)
		return json_object_new_string_len(bytes.ptr ? bytes.ptr : "", (int)bytes.len);
	auto_buffer struct buffer clean = {0};
	utf8_append_clean(&clean, bytes.ptr, bytes.len);
	return json_object_new_string_len(clean.data, (int)clean.len);
}

struct json_object *json_real(double value)
{
	char text[40];
	if (!isfinite(value))
		return NULL;
	for (int digits = 1; digits <= 17; digits++) { /* the shortest that reads back the same */
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (!strpbrk(text, ".e")) /* or it would read back as an integer, and -0 as 0 */
		strcat(text, ".0");
	return json_object_new_double_s(value, text);
}

struct json_object *json_of_node(const struct assay_node *node)
{
	struct json_object *made = NULL;
	bool is_replaced;
	switch (node_kind(node)) {
	case ASSAY_NODE_NULL:
		break;
	case ASSAY_NODE_BOOL:
		return json_object_new_boolean(node->value.boolean);
	case ASSAY_NODE_INT:
		return json_object_new_int64(node->value.integer);
	case ASSAY_NODE_REAL:
		return json_real(node->value.real);
	case ASSAY_NODE_STRING:
		return new_text(node->value.string, &is_replaced);
	case ASSAY_NODE_LIST:
		made = json_list();
		for (size_t i = 0; i < node_count(node); i++)
			json_push(made, json_of_node(node_at(node, i)));
		break;
	case ASSAY_NODE_MAP:
		made = json_map();
		for (size_t i = 0; i < node_count(node); i++)
			json_add_copied(made, node_key(node, i).ptr, json_of_node(node_at(node, i)));
		break;
	}
	return made;
}

void json_add(struct json_object *map, const char *key, struct json_object *child)
{
	json_object_object_add_ex(map, key, child, JSON_C_OBJECT_ADD_CONSTANT_KEY);
}

void json_add_copied(struct json_object *map, const char *key, struct json_object *child)
{
	json_object_object_add(map, key, child);
}

void json_add_int(struct json_object *map, const char *key, int64_t value)
{
	json_add(map, key, json_object_new_int64(value));
}

void json_add_real(struct json_object *map, const char *key, double value)
{
	json_add(map, key, json_real(value));
}

void json_add_bool(struct json_object *map, const char *key, bool value)
{
	json_add(map, key, json_object_new_boolean(value));
}

bool json_add_str(struct json_object *map, const char *key, struct assay_str bytes)
{
	bool is_replaced;
	json_add(map, key, new_text(bytes, &is_replaced));
	return is_replaced;
}

void json_push(struct json_object *list, struct json_object *child)
{
	json_object_array_add(list, child);
}

void json_push_str(struct json_object *list, struct assay_str bytes)
{
	bool is_replaced;
	json_push(list, new_text(bytes, &is_replaced));
}

static void print(struct json_object *object, int flags, struct buffer *out)
{
	size_t len = 0;
	const char *text = json_object_to_json_string_length(object, flags | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	buffer_append(out, text, len);
}

void json_print(struct json_object *object, struct buffer *out)
{
	print(object, JSON_C_TO_STRING_PLAIN, out);
}

void json_print_pretty(struct json_object *object, struct buffer *out)
{
	print(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED, out);
}

void json_free(struct json_object *object)
{
	json_object_put(object);
}
