/* SPDX-License-Identifier: Apache-2.0 */
/* A dataset type with its options, ready to judge. Opened on the start-up thread; then free for all threads. */
#ifndef PIPELINE_DATASET_H
#define PIPELINE_DATASET_H

#include "plugin/registry.h"

struct dataset {
	const struct plugin *plugin;
	const struct assay_dataset_ops *ops;
	void *self;
	struct arena *arena; /* of the options */
};

/* `options`: map of --set values, or NULL. */
int dataset_open(const struct registry *registry, struct assay_str type, const struct assay_node *options,
                 struct dataset **ret, struct assay_error *err);
void dataset_close(struct dataset *dataset); /* accepts NULL */
/* The type whose required columns all stand in `row`; an error names the candidates when it is not exactly one. */
int dataset_guess_type(const struct registry *registry, const struct assay_node *row, struct assay_str *ret,
                       struct assay_error *err);
/* The row's id: the first of the type's `columns.id` that it has. *ret_column is the name of that column. */
int dataset_row_id(const struct dataset *dataset, const struct assay_node *row, const struct assay_node **ret_id,
                   struct assay_str *ret_column, struct assay_error *err);
/* The prompt of a row, in the arena. */
int dataset_prompt(const struct dataset *dataset, struct arena *arena, const struct assay_node *row,
                   struct assay_str *ret, struct assay_error *err);

#endif
