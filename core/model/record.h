/* SPDX-License-Identifier: Apache-2.0 */
/* Everything observed of one case. Judges and oracles read records and nothing else. */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "model/plan.h"

/* status word in JSON: the last argument */
#define STEP_STATUS_MAP(X)                                                                                             \
	X(STEP_FINISHED, "finished")           /* ended by itself, whatever its exit code */                           \
	X(STEP_TIME_LIMIT, "time_limit")       /* our CPU or wall clock ended it */                                    \
	X(STEP_MEMORY_LIMIT, "memory_limit")   /* the kernel's out-of-memory counter of its group moved */             \
	X(STEP_OUTPUT_LIMIT, "output_limit")   /* it wrote more than flood_bytes to a stream */                        \
	X(STEP_PROCESS_LIMIT, "process_limit") /* it failed after the process limit had refused it a fork */           \
	X(STEP_SIGNALLED, "signalled")         /* a signal of its own making ended it */                               \
	X(STEP_ERROR, "error")                 /* Assay or its host failed: see error */

enum step_status {
#define X(symbol, word) symbol,
	STEP_STATUS_MAP(X)
#undef X
};

const char *step_status_name(enum step_status status);

struct stream {
	struct buffer kept; /* the first bytes, at most limits.output_bytes */
	uint64_t total_bytes;
};

struct step_record {
	enum step_status status;
	const char *limit_hit; /* "cpu", "wall", "memory", "output", "processes" or NULL; static */
	int return_code;       /* exit code; -N when ended by signal N */
	int signal;            /* 0 when it exited */
	int64_t wall_ns;
	int64_t cpu_ns; /* of the whole tree */
	uint64_t
	    memory_peak_bytes; /* of the whole tree where protections.memory is a cgroup, else of the largest process */
	int left_processes;    /* alive when the program ended, and killed */
	bool is_keeper_lost;   /* somebody killed what watched it; see exec/box.h */
	struct stream stdout_stream, stderr_stream, mark_stream;
	struct assay_error error; /* when status is STEP_ERROR */
};

void step_record_free(struct step_record *record); /* buffers; back to the zero state */

struct record {
	struct assay_str name; /* of the case */
	const char *language;
	const char *isolation;
	struct protections protections;
	const struct step_record *build; /* NULL when there was none; shared by the cases of a source */
	struct step_record run;
	bool has_run;
};

struct record_json_options {
	size_t output_bytes; /* of each stream shown at most; 0: all that was kept */
	bool with_base64;    /* exact bytes beside the text */
};

struct json_object *record_json(const struct record *record, const struct record_json_options *options);

#endif
