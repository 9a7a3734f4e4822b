/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of results: one line a completion, each written whole with one write(2) at the file's end, so that a run
 * that is killed loses nothing it has reported. Whether a last line was cut short is found out by whoever goes on with
 * it.
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
	struct assay_str language;
};

/*
 * Calls back for each line; the strings live until it returns. A last line that cannot be read (a run was killed while
 * it was written) is passed over; a damaged line anywhere else is an error that names it.
 */
int results_read(const char *path, void (*line)(void *arg, const struct result_line *line), void *arg,
                 struct assay_error *err);

struct results;

/*
 * Opens the file to append to, alone (flock). A file that holds something needs `resume`, which cuts off a last line
 * that was cut short and remembers what is there.
 */
int results_open(const char *path, bool resume, struct results **ret, struct assay_error *err);
void results_close(struct results *results); /* accepts NULL */
bool results_has(const struct results *results, struct assay_str id_text, int64_t sample);
size_t results_count(const struct results *results); /* that were there when it was opened */
/* Any thread. After a failure (a full disk) the part of the line that got written is taken back. */
int results_write(struct results *results, struct json_object *line, struct assay_error *err);

#endif
