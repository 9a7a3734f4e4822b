/* SPDX-License-Identifier: Apache-2.0 */
/* What a source becomes before it runs. Plain data in an arena; `assay run --explain` prints it. */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include "model/limits.h"
#include <sys/types.h>

#define PROTECTIONS_MAX 24

/* Protections in force and how: names and mechanisms are static strings or live as long as the plan. */
struct protections {
	size_t count;
	struct {
		const char *name;      /* "memory", "processes", "filesystem", ... */
		const char *mechanism; /* "cgroup-v1", "rlimit", "none", ... */
	} items[PROTECTIONS_MAX];
};

/* Sets or replaces; false when the table is full. */
bool protections_set(struct protections *protections, const char *name, const char *mechanism);
struct json_object *protections_json(const struct protections *protections);

struct plan_file {
	struct assay_str path; /* plain, relative to the workspace */
	struct assay_str content;
	mode_t mode;
};

struct plan_step {
	const char *const *argv; /* NULL-terminated; NULL when the plan has no such step */
	const char *const *env;  /* whole environment, NULL-terminated */
	struct limits limits;    /* all definite */
};

/* How a box is confined. */
struct plan_box {
	const char *isolation; /* name of the backend */
	bool has_identity;
	uid_t uid;
	gid_t gid;
	struct protections protections; /* of the backend and of the limits */
};

struct plan {
	const char *language;
	struct plan_file *files;
	size_t file_count;
	struct plan_step build;
	struct plan_step run;
	struct plan_box box;
};

struct json_object *plan_json(const struct plan *plan);

#endif
