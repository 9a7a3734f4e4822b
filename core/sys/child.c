/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/child.h"
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

pid_t child_clone(uint64_t flags, int cgroup_fd, int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {
	    .flags = flags | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&pidfd,
	    /* The kernel takes a child given to the parent only without a signal of its own. */
	    .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
	    .cgroup = flags & CLONE_INTO_CGROUP ? (uint64_t)(unsigned)cgroup_fd : 0,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid > 0)
		*ret_pidfd = pidfd;
	return pid;
}

int child_signal(int pidfd, int number)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

int child_wait(int pidfd, struct child_exit *ret)
{
	siginfo_t info = {0};
	/* The system call itself, for its fifth argument; __WALL, for children without an exit signal. */
	while (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | __WALL, &ret->usage) != 0)
		if (errno != EINTR)
			return -1;
	ret->is_signalled = info.si_code != CLD_EXITED;
	ret->code = info.si_status;
	return 0;
}

void child_reset_signals(void)
{
	/* The system call itself: glibc leaves out the two signals it keeps for itself, which may be inherited as
	 * ignored. */
	static const uint64_t default_action[4]; /* struct kernel_sigaction, all zero: SIG_DFL */
	for (int number = 1; number <= 64; number++)
		syscall(SYS_rt_sigaction, number, default_action, NULL,
		        8); /* SIGKILL and SIGSTOP refuse, and need none */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void child_close_from(int first)
{
	close_range((unsigned)first, ~0U, 0);
}
