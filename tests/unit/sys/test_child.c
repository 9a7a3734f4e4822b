/* SPDX-License-Identifier: Apache-2.0 */
/* child and proctree */
#include "../test.h"
#include "base/clock.h"
#include "sys/child.h"
#include "sys/proctree.h"
#include <signal.h>
#include <sys/prctl.h>

static void test_exit_and_signal(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0)
		_exit(42);
	assert_true(pid > 0 && pidfd >= 0);
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_false(ended.is_signalled);
	assert_int_equal(ended.code, 42);
	assert_int_equal(child_wait(pidfd, &ended), -1); /* reaped */
	close(pidfd);

	pid = child_clone(0, -1, &pidfd);
	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(child_signal(pidfd, SIGKILL), 0);
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_true(ended.is_signalled);
	assert_int_equal(ended.code, SIGKILL);
	assert_int_equal(child_signal(pidfd, SIGKILL), -1);
	assert_int_equal(errno, ESRCH);
	close(pidfd);
}

static void test_signals_are_reset(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	sigset_t all;
	signal(SIGUSR1, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0) {
		child_reset_signals();
		kill(getpid(), SIGUSR1);
		_exit(0);
	}
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_true(ended.is_signalled);
	assert_int_equal(ended.code, SIGUSR1);
	close(pidfd);
}

/* A tree that does what it can to stay: sessions of its own, double forks, stopped processes, children of children. */
static void grow_tree(int depth)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			if (i == 1)
				setsid();
			if (depth > 0)
				grow_tree(depth - 1);
			if (i == 2)
				_exit(0); /* orphans its children */
			if (i == 1)
				raise(SIGSTOP);
			for (;;)
				pause();
		}
	}
}

static void test_descendants_are_killed(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	pid_t pid = child_clone(0, -1, &pidfd); /* a subreaper with no other children */
	if (pid == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		grow_tree(2);
		clock_sleep_ns(INT64_C(50000000));
		int killed = proctree_kill_descendants(clock_now_ns() + INT64_C(5000000000));
		int left = proctree_kill_descendants(clock_now_ns() + INT64_C(5000000000));
		_exit(killed > 10 && left == 0 ? 0 : 1);
	}
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_false(ended.is_signalled);
	assert_int_equal(ended.code, 0);
	close(pidfd);
}

static void test_cpu_of_descendants(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0)
		for (;;)
			;
	int64_t cpu_ns = 0;
	for (int i = 0; i < 1000 && cpu_ns == 0; i++) {
		clock_sleep_ns(INT64_C(10000000));
		cpu_ns = proctree_cpu_ns();
	}
	assert_true(cpu_ns > 0);
	child_signal(pidfd, SIGKILL);
	child_wait(pidfd, &ended);
	close(pidfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_exit_and_signal),
	    cmocka_unit_test(test_signals_are_reset),
	    cmocka_unit_test(test_descendants_are_killed),
	    cmocka_unit_test(test_cpu_of_descendants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
