/* SPDX-License-Identifier: Apache-2.0 */
/* How a scratch folder tells that its instance lives: a lock file that the front holds locked. */
#ifndef EXEC_SCRATCH_LOCK_H
#define EXEC_SCRATCH_LOCK_H

#include "base/defs.h"

/* Makes and takes the lock of a new scratch folder; its descriptor, or -1 with errno. */
int scratch_lock(int folder_fd);
/* Removes the scratch folder `name` of `parent_fd` if it is this user's and its front is gone; else does nothing. */
int scratch_remove_dead(int parent_fd, const char *name, struct assay_error *err);

#endif
