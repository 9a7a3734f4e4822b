/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map read into a struct by a table. Every key must be known; an unknown one is an error with a "did you mean".
 * The same tables feed `--help` texts.
 */
#ifndef DATA_SCHEMA_H
#define DATA_SCHEMA_H

#include "data/node.h"

enum schema_type {
	SCHEMA_STR,      /* struct assay_str, NUL-terminated, of the node */
	SCHEMA_INT,      /* int64_t */
	SCHEMA_REAL,     /* double */
	SCHEMA_BOOL,     /* bool */
	SCHEMA_DURATION, /* int64_t, nanoseconds */
	SCHEMA_SIZE,     /* uint64_t, bytes */
	SCHEMA_ENUM,     /* int: index into `choices` */
	SCHEMA_MAP,      /* const struct assay_node *, checked to be a map */
	SCHEMA_LIST,     /* const struct assay_node *, checked to be a list */
	SCHEMA_ANY,      /* const struct assay_node * */
};

struct schema_field {
	const char *name; /* NULL ends the table */
	enum schema_type type;
	size_t offset; /* into the struct that is filled */
	bool is_required;
	const char *const *choices; /* of SCHEMA_ENUM, NULL-terminated */
	const char *help;
};

/* Fields that are absent leave their place in `out` as it is (so it holds the defaults). */
int schema_read(const struct assay_node *map, const struct schema_field *fields, void *out, struct assay_error *err);

#endif
