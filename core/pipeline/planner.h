/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a source to a plan: the language says files and commands, the isolation backend how the box is confined, the
 * limits are layered. Nothing is executed. Holds one instance of every usable language.
 */
#ifndef PIPELINE_PLANNER_H
#define PIPELINE_PLANNER_H

#include "exec/wire.h"
#include "model/plan.h"
#include "pipeline/pipeline.h"

struct planner;

/* Start-up thread. `facts` must outlive the planner. A language whose create() fails is reported when it is asked for.
 */
struct planner *planner_new(const struct registry *registry, const struct spawner_hello *facts);
void planner_free(struct planner *planner); /* accepts NULL */

struct planner_source {
	struct assay_str language; /* name or alias */
	struct assay_str code;
	const struct plan_file *files; /* further files, laid down beside the language's own */
	size_t file_count;
	struct limits
	    limits; /* of the request or problem: over the pipeline's, over the language's, over the default */
};

/* Any thread. The plan lives in the arena. */
int planner_plan(struct planner *planner, struct arena *arena, const struct pipeline *pipeline,
                 const struct planner_source *source, struct plan *ret, struct assay_error *err);

/* Where programs are looked for, in boxes and when toolchains are probed. */
#define PLANNER_PATH "/usr/local/bin:/usr/bin:/bin"

#endif
