/* SPDX-License-Identifier: Apache-2.0 */
/* A headless evaluation: a dataset and a file of completions in, a file of results out. */
#ifndef BATCH_EVALUATE_H
#define BATCH_EVALUATE_H

#include "batch/rows.h"
#include "batch/summary.h"
#include "pipeline/engine.h"
#include <stdatomic.h>

struct evaluation {
	struct engine *engine;
	const struct pipeline *pipeline;
	const struct dataset *dataset;
	struct rows *rows; /* indexed */
	const char *completions_path, *output_path;
	struct assay_str language; /* of completions that name none; may be empty */
	int64_t shard, shard_count;
	bool resume, is_quiet;
	int stop_fd;              /* readable when the run is to stop: what is in flight is finished. -1: none */
	atomic_bool is_cancelled; /* set by evaluation_cancel() */
	/* out */
	struct summary *summary; /* of the whole output file, with what was there already; the caller frees it */
	int64_t finished;        /* in this run */
	size_t skipped;          /* of the completions: were there already */
	bool is_stopped;         /* before its end */
	int64_t elapsed_ns;
	struct assay_error first_failure; /* of the first completion that could not be judged; status 0: none */
};

/*
 * Runs it. What has been reported stays reported: on an error (a line that cannot be read, an id that no row has, a
 * full disk) what is in flight is finished and written, then the error is returned, and the run can be resumed.
 */
int evaluate(struct evaluation *evaluation, struct assay_error *err);
/* Ends what is in flight at once; it is not reported, and so is run again on resume. Any thread, while evaluate() runs.
 */
void evaluation_cancel(struct evaluation *evaluation);

#endif
