/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value of a YAML or JSON document. Trees are immutable once built and live in an arena, so any number of threads
 * may read one. A value knows its place: file, line and column in YAML; file (or label), line and path in JSON.
 */
#ifndef DATA_NODE_H
#define DATA_NODE_H

#include "base/arena.h"
#include "base/buffer.h"

struct assay_node {
	enum assay_node_kind kind;
	uint32_t line;   /* 1-based; 0 unknown */
	uint32_t column; /* 1-based; 0 in JSON */
	bool is_plain;   /* an unquoted YAML scalar: may be read as a number, a boolean, a quantity */
	const char *file;
	const struct assay_node *parent; /* NULL at the root */
	struct assay_str name;           /* key in the parent map; empty in a list */
	size_t index;                    /* place in the parent */
	union {
		bool boolean;
		int64_t integer;
		double real;
		struct assay_str string; /* NUL-terminated */
		struct {
			struct assay_node *const *items; /* in document order */
			size_t count;
		} children;
	} value;
};

enum assay_node_kind node_kind(const struct assay_node *node); /* NULL: ASSAY_NODE_NULL */
const char *node_kind_name(enum assay_node_kind kind);         /* "a map", "text", ... for messages */
size_t node_count(const struct assay_node *node);
const struct assay_node *node_get(const struct assay_node *map, const char *key);
const struct assay_node *node_at(const struct assay_node *node, size_t index);
struct assay_str node_key(const struct assay_node *map, size_t index);

/* Typed reads. NULL (absent) is an error "a value is missing"; every error names the place. */
int node_str(const struct assay_node *node, struct assay_str *ret, struct assay_error *err);
int node_int(const struct assay_node *node, int64_t *ret, struct assay_error *err);
int node_real(const struct assay_node *node, double *ret, struct assay_error *err);
int node_bool(const struct assay_node *node, bool *ret, struct assay_error *err);
int node_duration(const struct assay_node *node, int64_t *ret_ns, struct assay_error *err); /* text with a unit */
int node_size(const struct assay_node *node, uint64_t *ret_bytes, struct assay_error *err); /* text with a unit */

/* ASSAY_INVALID at the node's place; in JSON the path stands before the message. `where` may be NULL. */
int node_error(struct assay_error *err, const struct assay_node *where, const char *format, ...) ASSAY_PRINTF(3, 4);
int node_error_v(struct assay_error *err, const struct assay_node *where, const char *format, va_list args)
    ASSAY_PRINTF(3, 0);
/* "tests[3].input.stdin"; the root is "$". */
void node_path(struct buffer *out, const struct assay_node *node);

/* Building, for the parsers and for options made from the command line. Values are copied into the arena. */
struct assay_node *node_new(struct arena *arena, enum assay_node_kind kind);
struct assay_node *node_new_text(struct arena *arena, struct assay_str text, bool is_plain, const char *file);
/* A map or list of these children (names are their `name`); the array is copied, parents and indexes are set. */
struct assay_node *node_new_parent(struct arena *arena, enum assay_node_kind kind, struct assay_node *const *items,
                                   size_t count);

#endif
