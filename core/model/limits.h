/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of one step. Zero means "not set"; limits_fill() makes all of them definite. */
#ifndef MODEL_LIMITS_H
#define MODEL_LIMITS_H

#include "data/json.h"
#include "data/schema.h"

struct limits {
	int64_t wall_ns; /* the safety net; defaults to 3 * cpu_ns + 15 s, so that a busy machine flips no verdict */
	int64_t cpu_ns;  /* of the whole process tree: the judge of "too slow" */
	uint64_t memory_bytes; /* of the whole process tree, by cgroup; else of each process, by rlimit */
	int64_t processes;     /* processes and threads at a time */
	uint64_t output_bytes; /* kept of each of stdout and stderr */
	uint64_t flood_bytes;  /* written to either, at which the program is ended; defaults to 8 * output_bytes */
	uint64_t file_bytes;   /* largest file the program may write */
};

extern const struct schema_field limits_fields[]; /* of `limits:` maps: wall, cpu, memory, processes, output, ... */

int limits_read(const struct assay_node *map, struct limits *ret, struct assay_error *err); /* zeroed first */
/* Sets what `limits` leaves open from `base`. */
void limits_fill(struct limits *limits, const struct limits *base);
/* What holds where nothing else says: see the table in limits.c. */
extern const struct limits limits_default;
struct json_object *limits_json(const struct limits *limits);

#endif
