/* SPDX-License-Identifier: Apache-2.0 */
/* What this host can do: the rows of `assay doctor` about the kernel and its configuration. */
#ifndef SYS_PROBE_H
#define SYS_PROBE_H

#include "base/defs.h"

struct probe_row {
	char name[40];     /* "kernel", "cgroup memory", "openat2", "open files", "temp folder" */
	char value[120];   /* what was found */
	char missing[240]; /* "" when fine; else what is lost without it, and how to get it */
	bool is_fatal;     /* Assay cannot run at all */
};

/* Calls back once a row; tries things out rather than trusting version numbers. */
void probe_host(const char *temp_folder, void (*row)(void *arg, const struct probe_row *row), void *arg);

#endif
