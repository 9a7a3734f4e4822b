/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An isolation backend says, as data, how a box is confined. No plugin code runs between clone and exec: the core's
 * spawner interprets the plan, so a plan can be printed, compared and tested without privilege.
 *
 * Limits (wall, CPU, memory, processes, output) are not a backend's business: the core enforces them for every box.
 */
#ifndef ASSAY_ISOLATION_H
#define ASSAY_ISOLATION_H

#include <assay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_probe_sink {
	uint32_t size;
	void *arg;
	/*
	 * One protection of this backend on this host. `mechanism` names how it is done ("none" when it is not);
	 * `missing` is NULL or says what the host lacks and how to get it. Words of `protection` are those of the
	 * `box.protections` map of records: "filesystem", "network", "identity", ...
	 */
	int (*protection)(void *arg, const char *protection, const char *mechanism, const char *missing,
	                  struct assay_error *err);
};

struct assay_box_sink {
	uint32_t size;
	void *arg;
	/* A protection that this plan puts in force, and its mechanism; reported in every record. */
	int (*protection)(void *arg, const char *protection, const char *mechanism, struct assay_error *err);
	/* The program runs under these ids instead of Assay's own; needs a privileged spawner. */
	int (*identity)(void *arg, uint32_t uid, uint32_t gid, struct assay_error *err);
};

struct assay_isolation_ops {
	uint32_t size;
	/* `options` is a map with every option of the descriptor present; lives as long as the instance. */
	int (*create)(const struct assay_host *host, const struct assay_node *options, void **ret_self,
	              struct assay_error *err);
	void (*destroy)(void *self); /* accepts NULL */
	int (*probe)(void *self, const struct assay_probe_sink *sink, struct assay_error *err);
	int (*plan)(void *self, const struct assay_box_sink *sink, struct assay_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
