/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON in and out through json-c. In: strict RFC 8259, one value and nothing after it, valid UTF-8, no duplicate keys,
 * no NaN or Infinity, no NUL in a key, depth at most 64 (json-c 0.16 alone lets all of these pass). An integer outside
 * int64 becomes a real; one of more than 19 digits is refused, for json-c would clamp it. Out: objects of json-c, built
 * by one thread, printed once.
 */
#ifndef DATA_JSON_H
#define DATA_JSON_H

#include "data/node.h"
#include <json-c/json_types.h>

/* `file` and `line` name the text in errors; the nodes live in the arena. `file` is borrowed for as long. */
int json_parse(struct arena *arena, struct assay_str text, const char *file, uint32_t line,
               const struct assay_node **ret, struct assay_error *err);

struct json_object *json_map(void);
struct json_object *json_list(void);
/* A node as a json-c tree (the caller owns it). */
struct json_object *json_of_node(const struct assay_node *node);
/* Adders take ownership of `child`. Keys are literals or live as long as the object. */
void json_add(struct json_object *map, const char *key, struct json_object *child);        /* child NULL: null */
void json_add_copied(struct json_object *map, const char *key, struct json_object *child); /* any key */
struct json_object *json_real(double value); /* shortest form; not finite: null */
void json_add_int(struct json_object *map, const char *key, int64_t value);
void json_add_real(struct json_object *map, const char *key, double value);
void json_add_bool(struct json_object *map, const char *key, bool value);
/* Bytes that are not UTF-8 become U+FFFD; true when that happened. */
bool json_add_str(struct json_object *map, const char *key, struct assay_str bytes);
void json_push(struct json_object *list, struct json_object *child);
void json_push_str(struct json_object *list, struct assay_str bytes);
/* Compact, without a line end. */
void json_print(struct json_object *object, struct buffer *out);
/* Indented, for people. */
void json_print_pretty(struct json_object *object, struct buffer *out);
void json_free(struct json_object *object); /* accepts NULL */
static inline void cleanup_json(struct json_object **object)
{
	json_free(*object);
}
#define auto_json __attribute__((cleanup(cleanup_json)))

#endif
