/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by descriptor: clone3(2), pidfd_send_signal(2), waitid(2) with P_PIDFD. */
#ifndef SYS_CHILD_H
#define SYS_CHILD_H

#include "base/defs.h"
#include <sys/resource.h>
#include <sys/types.h>

struct child_exit {
	bool is_signalled;
	int code;            /* exit code, or the signal's number */
	struct rusage usage; /* of the child and of the descendants it waited for */
};

/*
 * fork() that also gives a pidfd (close-on-exec). `flags` are further clone3 flags: CLONE_PARENT makes the child one of
 * the caller's parent, CLONE_INTO_CGROUP places it in `cgroup_fd` (else pass -1), CLONE_NEW* as they are.
 * Returns the pid in the parent, 0 in the child, -1 with errno. The child has the caller's single thread.
 */
pid_t child_clone(uint64_t flags, int cgroup_fd, int *ret_pidfd);
int child_signal(int pidfd, int number); /* 0, or -1 with errno; ESRCH when it has ended */
/* Waits for the end and reaps. 0, or -1 with errno (ECHILD when somebody else has reaped it). */
int child_wait(int pidfd, struct child_exit *ret);
/* Default dispositions for all signals and an empty mask: what a program expects to start with. */
void child_reset_signals(void);
/* Closes every descriptor from `first` up (close_range(2)). */
void child_close_from(int first);

#endif
