/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scratch folder of one Assay process: every workspace and layer lives in it, and it goes when the process ends,
 * however it ends (spawner_guard()). What even that left (a power cut, both killed) is swept at the next start: a lock
 * held by the front tells the living from the dead.
 */
#ifndef EXEC_SCRATCH_H
#define EXEC_SCRATCH_H

#include "model/plan.h"

struct scratch {
	int parent_fd; /* of the temp folder */
	int fd;
	int lock_fd;
	char name[32]; /* "assay-XXXXXX" */
	char *path;    /* absolute */
};

/* In $TMPDIR or /tmp; sweeps first. */
int scratch_open(struct scratch *ret, struct assay_error *err);
void scratch_close(struct scratch *scratch); /* removes it */

#define WORKSPACE_NAME_SIZE 24

struct workspace {
	const struct scratch *scratch;
	char name[WORKSPACE_NAME_SIZE];
	int fd;
};

/* A new empty folder, for one box, with its ".tmp". Any thread. */
int workspace_make(const struct scratch *scratch, struct workspace *ret, struct assay_error *err);
/* Lays down the files of a plan. */
int workspace_fill(const struct workspace *workspace, const struct plan_file *files, size_t count,
                   struct assay_error *err);
/* Gives it to the ids that the box runs under, if it has its own. */
int workspace_give(const struct workspace *workspace, const struct plan_box *box, struct assay_error *err);
/* Removes it with all below. Does nothing on a zeroed or removed workspace. */
void workspace_remove(struct workspace *workspace);

#endif
