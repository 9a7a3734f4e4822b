/* SPDX-License-Identifier: Apache-2.0 */
/* A file of completions, as a stream. The n-th line of an id is its sample n - 1. */
#ifndef BATCH_COMPLETIONS_H
#define BATCH_COMPLETIONS_H

#include "data/node.h"

struct completion {
	const struct assay_node *id; /* text or whole number */
	struct assay_str id_column;  /* the name it came under; lives as long as the dataset */
	struct assay_str id_text;
	int64_t sample;
	struct assay_str completion;
	struct assay_str language; /* empty when the line has none */
};

struct completions;

/*
 * `id_columns` are the names that an id may have beside task_id and id (a list of text, or NULL; outlives this); they
 * come first. Only every `shard_count`-th line, from line `shard` (1-based) on, is given out; all are numbered.
 */
int completions_open(const char *path, const struct assay_node *id_columns, int64_t shard, int64_t shard_count,
                     struct completions **ret, struct assay_error *err);
void completions_close(struct completions *completions); /* accepts NULL */
/* 1, 0 at the end, negative on error. What it points to lives in the arena, but for `file` names, which live in
 * *completions. */
int completions_next(struct completions *completions, struct arena *arena, struct completion *ret,
                     struct assay_error *err);
void completions_progress(const struct completions *completions, uint64_t *ret_done, uint64_t *ret_size);

#endif
