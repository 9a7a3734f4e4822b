/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "sys/child.h"
#include "sys/fdpass.h"
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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

static void test_wait_tells_what_was_used(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0) {
		struct rusage own;
		do
			getrusage(RUSAGE_SELF, &own);
		while (own.ru_utime.tv_sec == 0 && own.ru_utime.tv_usec + own.ru_stime.tv_usec < 50000);
		_exit(0);
	}
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_true(ended.usage.ru_utime.tv_sec > 0 ||
	            ended.usage.ru_utime.tv_usec + ended.usage.ru_stime.tv_usec >= 40000);
	close(pidfd);
}

/* A child without an exit signal is one that plain wait() passes over. */
static void test_a_child_without_exit_signal(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd};
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(9);
	assert_true(pid > 0);
	assert_int_equal(waitpid((pid_t)pid, NULL, 0), -1);
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_false(ended.is_signalled);
	assert_int_equal(ended.code, 9);
	close(pidfd);
}

/* A child's child that is given to this process. */
static void test_a_child_of_a_child_is_ours(void **state)
{
	(void)state;
	int ends[2];
	struct child_exit ended;
	assert_int_equal(fdpass_pair(ends), 0);
	int middle = -1, given = -1;
	pid_t pid = child_clone(0, -1, &middle);
	if (pid == 0) {
		int pidfd = -1;
		pid_t own = child_clone(CLONE_PARENT, -1, &pidfd);
		if (own == 0) {
			pause();
			_exit(1);
		}
		_exit(own > 0 && fdpass_send(ends[1], "x", 1, &pidfd, 1) == 0 ? 0 : 1);
	}
	assert_int_equal(child_wait(middle, &ended), 0);
	assert_int_equal(ended.code, 0);
	size_t count = 1;
	char byte;
	assert_int_equal(fdpass_receive(ends[0], &byte, 1, &given, &count), 1);
	assert_int_equal(count, 1);
	assert_int_equal(child_signal(given, SIGTERM), 0);
	assert_int_equal(child_wait(given, &ended), 0);
	assert_true(ended.is_signalled && ended.code == SIGTERM);
	assert_int_equal(child_wait(given, &ended), -1);
	assert_int_equal(errno, ECHILD);
	const int fds[] = {middle, given, ends[0], ends[1]};
	for (size_t i = 0; i < COUNT_OF(fds); i++)
		close(fds[i]);
}

static void test_bad_flags_are_refused(void **state)
{
	(void)state;
	int pidfd = -7;
	assert_int_equal(child_clone(UINT64_C(1) << 60, -1, &pidfd), -1);
	assert_int_equal(child_clone(CLONE_INTO_CGROUP, -1, &pidfd), -1);
	assert_int_equal(pidfd, -7);
	struct child_exit ended;
	assert_int_equal(child_wait(-1, &ended), -1);
	assert_int_equal(child_signal(-1, 0), -1);
}

static void test_descriptors_are_closed(void **state)
{
	(void)state;
	int pidfd = -1;
	struct child_exit ended;
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0) {
		int high = fcntl(0, F_DUPFD, 200), low = fcntl(0, F_DUPFD, 50);
		child_close_from(60);
		_exit(high < 200 || low < 50 || low >= 60 || fcntl(low, F_GETFD) || fcntl(high, F_GETFD) != -1);
	}
	assert_int_equal(fcntl(pidfd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_int_equal(ended.code, 0);
	close(pidfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_exit_and_signal),
	    cmocka_unit_test(test_signals_are_reset),
	    cmocka_unit_test(test_wait_tells_what_was_used),
	    cmocka_unit_test(test_a_child_of_a_child_is_ours),
	    cmocka_unit_test(test_a_child_without_exit_signal),
	    cmocka_unit_test(test_bad_flags_are_refused),
	    cmocka_unit_test(test_descriptors_are_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
