/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
/* The file itself, for the way to find descendants that is not in use on this kernel. */
#include "sys/proctree.c" // NOLINT(bugprone-suspicious-include)
#include "sys/child.h"
#include <sys/prctl.h>
#include <sys/resource.h>

static int64_t soon(void)
{
	return clock_now_ns() + INT64_C(10000000000);
}

/* Runs `body` in a subreaper without other children; its exit code. */
static int in_subreaper(int (*body)(void))
{
	int pidfd = -1;
	struct child_exit ended;
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		_exit(body());
	}
	assert_int_equal(child_wait(pidfd, &ended), 0);
	assert_false(ended.is_signalled);
	close(pidfd);
	return ended.code;
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

static int kill_tree(void)
{
	grow_tree(2);
	clock_sleep_ns(INT64_C(50000000));
	int killed = proctree_kill_descendants(soon()), left = proctree_kill_descendants(soon());
	return killed > 10 && left == 0 ? 0 : 1;
}

static void test_descendants_are_killed(void **state)
{
	(void)state;
	assert_int_equal(in_subreaper(kill_tree), 0);
}

static int compare_pids(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

static bool both_ways_agree(void)
{
	struct pids by_children = {0}, by_scan = {0};
	find_with(&by_children, add_children);
	find_with(&by_scan, add_children_by_scan);
	size_t count = by_children.count;
	bool is_same = count > 10 && by_scan.count == count;
	if (is_same) {
		qsort(by_children.list, count, sizeof(pid_t), compare_pids);
		qsort(by_scan.list, count, sizeof(pid_t), compare_pids);
		is_same = memcmp(by_children.list, by_scan.list, count * sizeof(pid_t)) == 0;
	}
	free(by_children.list);
	free(by_scan.list);
	return is_same;
}

static int compare_ways(void)
{
	bool is_same = false;
	grow_tree(2);
	for (int i = 0; i < 500 && !is_same; i++) { /* until the tree grows no more */
		clock_sleep_ns(INT64_C(10000000));
		reap();
		is_same = both_ways_agree();
	}
	return proctree_kill_descendants(soon()) > 10 && is_same ? 0 : 1;
}

static void test_both_ways_find_the_same(void **state)
{
	(void)state;
	if (access("/proc/thread-self/children", R_OK)) {
		print_message("skipped: this kernel has no children files\n");
		skip();
	}
	assert_int_equal(in_subreaper(compare_ways), 0);
}

/* As many processes as its user may have, each forking on, in sessions of their own, orphaned as they start. */
static void bomb(void)
{
	const struct rlimit limit = {50, 50};
	setrlimit(RLIMIT_NPROC, &limit);
	if (setgid(54321) || setuid(54321))
		_exit(1);
	signal(SIGCHLD, SIG_IGN);
	for (;;)
		if (fork() == 0) {
			setsid();
			if (fork() > 0)
				_exit(0);
		}
}

static int kill_bomb(void)
{
	if (fork() == 0)
		bomb();
	clock_sleep_ns(INT64_C(100000000));
	int killed = proctree_kill_descendants(soon());
	errno = 0;
	bool is_alone = waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD;
	return killed > 10 && is_alone ? 0 : 1;
}

static void test_a_fork_bomb_is_killed(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can run a bomb as another user\n");
		skip();
	}
	assert_int_equal(in_subreaper(kill_bomb), 0);
}

static int pass_deadline(void)
{
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	int late = proctree_kill_descendants(0);
	int in_time = proctree_kill_descendants(soon());
	return late == -1 && in_time == 1 ? 0 : 1;
}

static void test_a_deadline_that_has_passed(void **state)
{
	(void)state;
	assert_int_equal(in_subreaper(pass_deadline), 0);
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
	    cmocka_unit_test(test_descendants_are_killed), cmocka_unit_test(test_both_ways_find_the_same),
	    cmocka_unit_test(test_a_fork_bomb_is_killed),  cmocka_unit_test(test_a_deadline_that_has_passed),
	    cmocka_unit_test(test_cpu_of_descendants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
