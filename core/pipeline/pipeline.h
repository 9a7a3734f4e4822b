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
 *   require: [memory, processes]         # protections without which nothing is run
 *   record: {output: 4KiB}               # how much of each stream a result line shows
 */
#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "model/limits.h"
#include "plugin/registry.h"

enum stage { STAGE_EXTRACT = 1, STAGE_BUILD = 2, STAGE_RUN = 4, STAGE_JUDGE = 8 };

struct pipeline {
	const char *name;
	const struct plugin *isolation;
	void *isolation_self; /* instance of the backend */
	struct limits run_limits, build_limits;
	unsigned stages; /* bits of enum stage; build needs extract, run needs build, judge needs run */
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
void pipeline_close(struct pipeline *pipeline); /* accepts NULL */

#endif
