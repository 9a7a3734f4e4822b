/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller asks: judge this completion of that problem, or run this code. A straight line:
 *   request -> sources and cases -> plans -> records -> verdict
 */
#ifndef PIPELINE_REQUEST_H
#define PIPELINE_REQUEST_H

#include "model/verdict.h"
#include "pipeline/dataset.h"
#include "pipeline/pipeline.h"

/* Code to run as it stands, without a dataset. */
struct run_input {
	struct assay_str code;
	struct assay_str stdin_data;
	const char *const *args;       /* appended to the run step's argv; NULL-terminated; may be NULL */
	const struct plan_file *files; /* further files of the workspace */
	size_t file_count;
	struct limits limits;     /* over the pipeline's */
	const char *const *fetch; /* paths of the workspace to read back after the run; NULL-terminated; may be NULL */
};

struct fetched_file {
	struct assay_str path;
	struct assay_str content;
	uint64_t size_bytes;      /* true size; larger than the content when that was cut */
	struct assay_error error; /* status != 0: could not be read, and why */
};

/* A fetched file is cut at this size. */
#define FETCH_BYTES_MAX ((size_t)64 << 20)

struct request {
	struct arena *arena; /* owns all the request's strings, also its results; freed after done() returns */
	const struct pipeline *pipeline;
	struct assay_str language; /* name or alias; may be empty when the dataset decides */

	/* judge: */
	const struct dataset *dataset; /* NULL: run */
	const struct assay_node *row;
	struct assay_str completion;
	/* run: */
	struct run_input run;

	/* Called once, on a slot's thread or, when the request fails at once, on the submitter's. */
	void (*done)(struct request *request, void *arg);
	void *arg;

	/* Results, set when done() is called. An Assay failure is outcome "infrastructure" with `error` set. */
	struct verdict verdict; /* of a run: one test, outcome NONE */
	struct assay_error error;
	struct fetched_file *fetched;
	size_t fetched_count;
};

/* Zeroed, with an arena of its own. */
struct request *request_new(void);
void request_free(struct request *request); /* also done by the engine after done() */
#endif
