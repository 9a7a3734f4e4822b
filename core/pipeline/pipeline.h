/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline: which plugins a request goes through, in which order, under which limits; from YAML.
 *
 *   pipeline: judge
 *   isolation: none                      # or {use: none, options: {...}}
 *   limits: {wall: 20s, cpu: 10s, memory: 1GiB, processes: 64, output: 8MiB}
 *   build_limits: {...}                  # of the build step; the same keys
 *   stages: [extract, build, run, judge]
 *   stop: never                          # or first_failure: cases after a failed one are not run
 *   require: [memory-cgroup, network]    # nothing is run without these protections; "-mechanism" narrows one
 *   record: {output: 4KiB}               # how much of each stream a result line shows
 */
#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "model/limits.h"
#include "plugin/registry.h"

enum stage {
	STAGE_EXTRACT = 1, /* a completion becomes sources and cases */
	STAGE_BUILD = 2,   /* each source's build step, once */
	STAGE_RUN = 4,     /* each case */
	STAGE_JUDGE = 8,   /* what was observed becomes a verdict */
};

struct pipeline {
	const char *name;
	const struct plugin *isolation;
	void *isolation_self; /* instance of the backend */
	struct limits run_limits, build_limits;
	unsigned stages; /* bits of enum stage; run needs build, judge needs extract and run */
	bool stop_at_first_failure;
	const struct assay_node *require; /* list of protection names or NULL */
	uint64_t record_output_bytes;
};

/*
 * Reads `name` (conf_root/pipelines/<name>.yaml) or, when it holds a slash or ends in .yaml, that file. Start-up thread
 * only. Lives until pipeline_close.
 */
int pipeline_open(const struct registry *registry, const char *conf_root, const char *name, struct pipeline **ret,
                  struct assay_error *err);
/* Puts another backend, with its default options, in the place of the one that the file names. Start-up thread only. */
int pipeline_use_isolation(const struct registry *registry, struct pipeline *pipeline, const char *name,
                           struct assay_error *err);
void pipeline_close(struct pipeline *pipeline); /* accepts NULL */

#endif
