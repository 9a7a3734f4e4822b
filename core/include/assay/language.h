/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A language plugin says, for one source, which files to lay down and which commands to run. It executes nothing.
 *
 * The core adds everything that is not the language's own: limits, isolation, the base environment (PATH, HOME,
 * TMPDIR, LANG), standard input, the arguments of a case (appended to the run step's argv).
 */
#ifndef ASSAY_LANGUAGE_H
#define ASSAY_LANGUAGE_H

#include <assay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_phase {
	ASSAY_PHASE_BUILD = 1, /* once per source; what it leaves in the workspace is there for every run */
	ASSAY_PHASE_RUN = 2,   /* once per case */
};

/* The source to plan for. */
struct assay_source {
	uint32_t size;
	struct assay_scope *scope;        /* of the request */
	struct assay_str code;            /* bytes as the caller gave them */
	const struct assay_node *options; /* map: option name -> value, every option of the descriptor present */
	uint64_t memory_bytes;            /* limit of the run step; 0 when there is none (for heap flags) */
};

struct assay_plan_sink {
	uint32_t size;
	void *arg;
	/*
	 * A file of the workspace. `path` is relative, without "." or ".." parts. `mode` is 0644 or 0755.
	 * A path given twice is an error.
	 */
	int (*file)(void *arg, struct assay_str path, struct assay_str content, uint32_t mode, struct assay_error *err);
	/*
	 * The command of a phase; run is required, build is optional, each at most once. argv and env end with NULL;
	 * env holds "NAME=value" strings added to the base environment and may be NULL. argv[0] without a slash is
	 * looked up in the box's PATH. The working directory is the workspace.
	 */
	int (*step)(void *arg, enum assay_phase phase, const char *const *argv, const char *const *env,
	            struct assay_error *err);
};

struct assay_language_ops {
	uint32_t size;
	/* `descriptor` is the whole plugin.yaml and lives as long as the instance. */
	int (*create)(const struct assay_host *host, const struct assay_node *descriptor, void **ret_self,
	              struct assay_error *err);
	void (*destroy)(void *self); /* accepts NULL */
	int (*plan)(void *self, const struct assay_source *source, const struct assay_plan_sink *sink,
	            struct assay_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
