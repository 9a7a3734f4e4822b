/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What result lines amount to: outcomes, and pass@k as the mean over tasks of the unbiased estimator. Results that
 * Assay could not judge ("infrastructure", "none") are counted apart and are no samples.
 */
#ifndef BATCH_SUMMARY_H
#define BATCH_SUMMARY_H

#include "batch/results.h"

struct summary;

struct summary *summary_new(void);
void summary_free(struct summary *summary); /* accepts NULL */
/* One thread at a time. */
void summary_add(struct summary *summary, const struct result_line *line);
int64_t summary_count(const struct summary *summary, enum assay_outcome outcome);
int64_t summary_total(const struct summary *summary);
/* `ks` ends with 0; NULL stands for 1, 5, 10, 100. A k that some task has too few samples for is left out. */
void summary_print(const struct summary *summary, const int64_t *ks, struct buffer *out);
struct json_object *summary_json(const struct summary *summary, const int64_t *ks);

#endif
