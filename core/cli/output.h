/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay run` makes of a finished run: the program's own output and exit code, or its record as JSON. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "pipeline/request.h"

struct output_options {
	bool as_json;
	bool with_base64;         /* with JSON: the exact bytes, too */
	const char *fetch_folder; /* where fetched files go */
};

/* Prints the run and saves what was fetched; returns the exit code. */
int output_run(const struct output_options *options, const struct request *request);

#endif
