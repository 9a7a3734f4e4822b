/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a dataset file, found by id. The file is read once, as a stream; what stays in memory of a row is its id
 * and its place. Rows of a compressed file, or of a pipe, are copied to an unlinked temporary file; a plain file is
 * read where it is, and must stay as it is for as long.
 */
#ifndef BATCH_ROWS_H
#define BATCH_ROWS_H

#include "pipeline/dataset.h"

struct rows;

/* JSON Lines, plain, gzip or zstd. Blank lines are passed over. No rows at all is an error. */
int rows_open(const char *path, struct rows **ret, struct assay_error *err);
void rows_close(struct rows *rows); /* accepts NULL */
size_t rows_count(const struct rows *rows);
/* Any thread. The node lives in the arena; rows must outlive it, for it names the file. */
int rows_parse(const struct rows *rows, size_t index, struct arena *arena, const struct assay_node **ret,
               struct assay_error *err);
/* Makes rows_find() work. Two rows with one id are an error that names both lines. */
int rows_index(struct rows *rows, const struct dataset *dataset, struct assay_error *err);
/* `id` as text: 4 and "4" are the same. */
bool rows_find(const struct rows *rows, struct assay_str id, size_t *ret_index);
/* An id's text, in the arena. */
struct assay_str rows_id_text(struct arena *arena, const struct assay_node *id);

#endif
