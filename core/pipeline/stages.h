/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of a pipeline, one file each, and what they hand on to one another. Private to pipeline/: work.c calls
 * them in order.
 *
 *   extract  a completion becomes sources and cases; they live in the request's arena
 *   build    a source becomes a plan and, where it has a build step, a layer
 *   run      a case becomes a record; cases run in parallel, so each has an arena of its own for its results
 *   judge    a record becomes the outcome of its case, all outcomes the verdict
 */
#ifndef PIPELINE_STAGES_H
#define PIPELINE_STAGES_H

#include "pipeline/work.h"
#include <assay/dataset.h>
#include <stdatomic.h>

/* A program: planned and built once, run by each of its cases. */
struct source {
	struct source *next;
	struct planner_source input;
	struct plan plan;
	struct layer *layer; /* NULL when the plan has no build step */
};

struct test_case {
	struct test_case *next;
	const struct source *source;
	struct assay_case given; /* strings in the request's arena */
	struct arena *arena;     /* of this case's results: cases run in parallel */
	struct test_result result;
};

struct work {
	struct job job; /* first: a job's address is its work's */
	const struct workshop *workshop;
	struct request *request;
	struct source *sources, **sources_end;
	struct test_case *cases, **cases_end;
	struct test_case **table; /* the cases by number */
	size_t case_count;
	bool is_decided; /* the verdict stands before anything has run */
	atomic_bool has_failed_case;
};

/* Fills sources, cases and, when nothing needs to run, the verdict (is_decided). */
int stage_extract(struct work *work, struct assay_error *err);
/* For each source, once. */
int stage_build(struct work *work, struct source *source, struct slot *slot, struct assay_error *err);
/* Fills the case's record. */
int stage_run(struct work *work, struct test_case *test, struct slot *slot, struct assay_error *err);
/* The outcome of a case that was run. */
void stage_judge(struct work *work, struct test_case *test);
/* The outcome of a case whose source could not be built; leaves it open when it could. */
void judge_build(struct test_case *test);
/* A failure of Assay: never an outcome of the program. */
void judge_failure(struct test_case *test, const struct assay_error *err);
/* The verdict over all cases. */
void judge_all(struct work *work);

/* Views of the request, as dataset types take them; `arena` is the scope that the op may allocate from. */
struct assay_problem stage_problem(const struct request *request, struct arena *arena);
struct assay_submission stage_submission(const struct request *request, const struct assay_problem *problem);

#endif
