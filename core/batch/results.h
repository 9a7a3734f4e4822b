/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of results: one line a completion, each written whole with one write(2) at the file's end, so that a run
 * that is killed loses nothing it has reported. A machine that dies may leave a last line that is no JSON; whoever goes
 * on with the file takes it back. Nothing is cut off a file before all the rest of it has proved to be results.
 */
#ifndef BATCH_RESULTS_H
#define BATCH_RESULTS_H

#include "data/json.h"
#include "model/verdict.h"

/* What every reader of a result line needs. */
struct result_line {
	struct assay_str id_text;
	int64_t sample;
	enum assay_outcome outcome;
	struct assay_str language; /* empty when unknown */
};

/* The strings live until it returns. */
typedef void (*result_line_fn)(void *arg, const struct result_line *line);

/*
 * Calls back for each line; plain, gzip or zstd. A last line that is no JSON is passed over; a damaged line anywhere
 * else, and one that is no result, is an error that names it.
 */
int results_read(const char *path, result_line_fn line, void *arg, struct assay_error *err);

struct results;

/*
 * Opens the file to append to, alone (flock). A file that holds something needs `resume`, which calls back for each
 * result that is there (`line` may be NULL), remembers it, and cuts off a last line that is no JSON.
 */
int results_open(const char *path, bool resume, result_line_fn line, void *arg, struct results **ret,
                 struct assay_error *err);
void results_close(struct results *results); /* accepts NULL */
bool results_has(const struct results *results, struct assay_str id_text, int64_t sample);
size_t results_count(const struct results *results); /* that were there when it was opened */
/*
 * Any thread. After a failure (a full disk) the part of the line that got written is taken back, and every later call
 * fails with the same error.
 */
int results_write(struct results *results, struct json_object *line, struct assay_error *err);

#endif
