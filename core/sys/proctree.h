/* SPDX-License-Identifier: Apache-2.0 */
/* The descendants of a process through /proc, for hosts without a cgroup. */
#ifndef SYS_PROCTREE_H
#define SYS_PROCTREE_H

#include "base/defs.h"
#include <sys/types.h>

/*
 * Kills all descendants of the calling process, which must be a child subreaper (PR_SET_CHILD_SUBREAPER) with no other
 * children: SIGSTOP all, so that none can fork on, SIGKILL all, reap, until none is left or `deadline_ns` has passed.
 * Returns how many were killed, or -1 when some remain.
 */
int proctree_kill_descendants(int64_t deadline_ns);
/* CPU time of all living descendants, without what reaped ones have used. */
int64_t proctree_cpu_ns(void);

#endif
