/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dataset type understands the rows of a dataset: what a model is asked, which cases a completion must face, and
 * whether what was observed passes. It executes nothing and never sees another request's data.
 *
 * What the program under test may know is exactly what the op `cases` puts into sources and cases. Expected outputs,
 * nonces and the like stay in the row or in assay_case.secret, which never enter a box.
 */
#ifndef ASSAY_DATASET_H
#define ASSAY_DATASET_H

#include <assay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_outcome {
	ASSAY_OUTCOME_NONE = 0, /* nothing was judged */
	ASSAY_OUTCOME_ACCEPTED = 1,
	ASSAY_OUTCOME_WRONG_ANSWER = 2,
	ASSAY_OUTCOME_RUNTIME_ERROR = 3,
	ASSAY_OUTCOME_TIME_LIMIT = 4,
	ASSAY_OUTCOME_MEMORY_LIMIT = 5,
	ASSAY_OUTCOME_OUTPUT_LIMIT = 6,
	ASSAY_OUTCOME_COMPILE_ERROR = 7,
	ASSAY_OUTCOME_NO_CODE = 8,        /* the completion holds nothing to run */
	ASSAY_OUTCOME_INFRASTRUCTURE = 9, /* Assay or its host failed; says nothing of the completion */
};

/* A row. */
struct assay_problem {
	uint32_t size;
	struct assay_scope *scope;
	const struct assay_node *row; /* map of the row's columns */
};

/* A completion of a problem. */
struct assay_submission {
	uint32_t size;
	const struct assay_problem *problem;
	struct assay_str completion;
	struct assay_str language; /* the caller's choice; empty when the dataset decides */
};

struct assay_prompt_sink {
	uint32_t size;
	void *arg;
	/* Exactly one call. */
	int (*prompt)(void *arg, struct assay_str text, struct assay_error *err);
};

/* One execution of the current source. */
struct assay_case {
	uint32_t size;
	struct assay_str name;       /* shown in results, such as "3" or "check"; unique within a submission */
	struct assay_str stdin_data; /* empty: the program reads end-of-file at once */
	struct assay_str secret;     /* handed back to check(); never enters the box */
	uint32_t mark;               /* 1: the program gets descriptor 3, the mark channel (at most 64 KiB are kept) */
	int64_t cpu_ns;              /* limits of the problem itself; 0 leaves the pipeline's */
	int64_t wall_ns;
	uint64_t memory_bytes;
};

struct assay_case_sink {
	uint32_t size;
	void *arg;
	/* What was taken from the completion, for the report; `type` as in struct assay_extraction. At most once. */
	int (*extracted)(void *arg, struct assay_str code, const char *type, struct assay_error *err);
	/* A program to build once; the test() calls that follow run it. `language` is a canonical name. */
	int (*source)(void *arg, struct assay_str language, struct assay_str code, struct assay_error *err);
	int (*test)(void *arg, const struct assay_case *test, struct assay_error *err);
	/*
	 * Ends without a run: the completion is judged as it stands (ASSAY_OUTCOME_NO_CODE, for example).
	 * `detail` is for people.
	 */
	int (*reject)(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err);
};

/* What was observed of one case whose program ended by itself; limits hit are judged by the core. */
struct assay_observation {
	uint32_t size;
	struct assay_str name;   /* of the case */
	struct assay_str secret; /* of the case */
	int32_t return_code;     /* exit code; -N when ended by signal N */
	struct assay_str stdout_data;
	struct assay_str stderr_data;
	struct assay_str mark_data; /* what the program wrote to descriptor 3, the mark channel */
};

struct assay_check_sink {
	uint32_t size;
	void *arg;
	/* Exactly one call per check. `detail` is one line for people, or empty. */
	int (*outcome)(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err);
};

struct assay_dataset_ops {
	uint32_t size;
	/* `options` is a map with every option of the descriptor present; lives as long as the instance. */
	int (*create)(const struct assay_host *host, const struct assay_node *options, void **ret_self,
	              struct assay_error *err);
	void (*destroy)(void *self); /* accepts NULL */
	int (*prompt)(void *self, const struct assay_problem *problem, const struct assay_prompt_sink *sink,
	              struct assay_error *err);
	/* At least one test, or a rejection: a problem without tests is an error, never a pass. */
	int (*cases)(void *self, const struct assay_submission *submission, const struct assay_case_sink *sink,
	             struct assay_error *err);
	/* A submission is accepted when every case's check said ASSAY_OUTCOME_ACCEPTED. */
	int (*check)(void *self, const struct assay_submission *submission, const struct assay_observation *seen,
	             const struct assay_check_sink *sink, struct assay_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
