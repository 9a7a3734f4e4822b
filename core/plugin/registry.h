/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All plugins found along the search path. Discovery reads <root>/<kind folder>/<name>/plugin.yaml, in order of roots
 * and names; a name found again in a later root is a problem of the later one. A broken plugin is kept with its error
 * and the rest keeps working. Start-up thread only for opening; read-only, and so free for all threads, afterwards.
 */
#ifndef PLUGIN_REGISTRY_H
#define PLUGIN_REGISTRY_H

#include "plugin/descriptor.h"

struct plugin {
	struct descriptor descriptor; /* folder and file are set even when reading failed */
	enum assay_kind kind;
	const char *name;                  /* of the folder when the descriptor is broken */
	const struct assay_plugin *module; /* NULL when broken */
	const char *module_path;           /* NULL when it was not found */
	struct assay_error problem;        /* status != 0: cannot be used, and why */
	struct assay_str missing; /* languages: toolchains this host lacks, with the package; empty when none */
};

struct registry;

/*
 * `roots` are folders that hold languages/, isolation/, ... (NULL-terminated; missing kind folders are fine, a missing
 * root is an error). `program_path` is the PATH in which required programs are looked for.
 */
int registry_open(const char *const *roots, const char *program_path, struct registry **ret, struct assay_error *err);
void registry_close(struct registry *registry); /* accepts NULL */
size_t registry_count(const struct registry *registry);
const struct plugin *registry_at(const struct registry *registry, size_t index);
/*
 * By name or alias. Fails with ASSAY_INVALID and a "did you mean" for an unknown name, with the plugin's own problem
 * for a broken one. A missing toolchain is not checked here.
 */
int registry_find(const struct registry *registry, enum assay_kind kind, struct assay_str name,
                  const struct plugin **ret, struct assay_error *err);
/* ASSAY_MISSING with the packages to install when the plugin's toolchain is not there. */
int plugin_require_toolchain(const struct plugin *plugin, struct assay_error *err);

/* One plugin by its folder (absolute), for `assay check`: what is wrong with it is in ret->problem. */
int registry_read_plugin(struct arena *arena, const char *folder, const char *const *roots, struct plugin *ret,
                         struct assay_error *err);

/* Whether `name` is an executable in `program_path` (or by absolute path). */
bool toolchain_has(const char *program_path, const char *name);

#endif
