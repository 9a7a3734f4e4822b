/* SPDX-License-Identifier: Apache-2.0 */
/* The dataset that a command line names: a NAME of conf/datasets/, or a FILE of rows. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "batch/rows.h"
#include "cli/common.h"

#define SETTINGS_MAX 64

/* As given. */
struct dataset_options {
	const char *name, *type;
	const char *settings[SETTINGS_MAX]; /* KEY=VALUE of --set */
	size_t setting_count;
};

/* An argp child with --dataset, --type and --set; its input is a struct dataset_options. */
extern const struct argp dataset_argp;

/* As found. */
struct dataset_source {
	struct arena *arena;
	struct rows *rows; /* indexed */
	struct dataset *dataset;
	struct assay_str language; /* of the dataset's entry; empty when it has none */
};

int dataset_source_open(const struct registry *registry, const char *conf_root, const struct dataset_options *given,
                        struct dataset_source *ret, struct assay_error *err);
void dataset_source_close(struct dataset_source *source); /* accepts a zeroed one */

#endif
