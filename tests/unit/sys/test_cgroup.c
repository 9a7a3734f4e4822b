/* SPDX-License-Identifier: Apache-2.0 */
/* Whichever version this host has; without one the tests are skipped, and say so. */
#include "../test.h"
#include "base/clock.h"
#include "base/error.h"
#include "sys/cgroup.h"
#include "sys/child.h"
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static struct cgroup_root root;
static char root_name[24];

static int set_up(void **state)
{
	(void)state;
	snprintf(root_name, sizeof(root_name), "%d", getpid());
	cgroup_root_open(&root, root_name);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cgroup_root_close(&root, root_name);
	return 0;
}

#define NEEDS(what)                                                                                                    \
	do {                                                                                                           \
		if (!(what)) {                                                                                         \
			print_message("skipped: no usable cgroup here: %s\n", root.reason);                            \
			skip();                                                                                        \
		}                                                                                                      \
	} while (0)

static int64_t soon(void)
{
	return clock_now_ns() + INT64_C(10000000000);
}

static void make(struct cgroup *cgroup, uint64_t memory, uint64_t processes)
{
	struct assay_error err = {0};
	const struct cgroup_limits limits = {.memory_bytes = memory, .processes = processes};
	if (cgroup_make(cgroup, &root, "test", &err) || cgroup_limit(cgroup, &limits, &err))
		fail_msg("%s", err.message);
}

/* A child in the group; 0 in the child. */
static pid_t enter(const struct cgroup *cgroup, int *pidfd)
{
	bool is_v2 = root.version == CGROUP_V2;
	pid_t pid = child_clone(is_v2 ? CLONE_INTO_CGROUP : 0, is_v2 ? cgroup->v2_fd : -1, pidfd);
	if (pid == 0 && !is_v2 && cgroup_enter(cgroup))
		_exit(99);
	assert_true(pid >= 0);
	return pid;
}

static void touch(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; memory != MAP_FAILED && i < bytes; i += 4096)
		memory[i] = 1;
}

static void test_memory_limit_acts_up_and_down(void **state)
{
	(void)state;
	NEEDS(root.has_memory);
	static const uint64_t mebibytes[] = {16, 32, 16};
	for (size_t i = 0; i < COUNT_OF(mebibytes); i++) {
		struct cgroup cgroup;
		struct cgroup_usage usage;
		struct child_exit ended;
		int pidfd;
		uint64_t limit = mebibytes[i] << 20;
		make(&cgroup, limit, 0);
		if (enter(&cgroup, &pidfd) == 0) {
			touch(limit / 2);
			touch(limit);
			_exit(0);
		}
		struct pollfd oom = {.fd = cgroup.oom_event_fd, .events = root.version == CGROUP_V2 ? POLLPRI : POLLIN};
		if (oom.fd >= 0)
			assert_int_equal(poll(&oom, 1, 30000), 1);
		child_wait(pidfd, &ended);
		assert_true(ended.is_signalled && ended.code == SIGKILL);
		assert_true(cgroup_has_oom_kill(&cgroup));
		cgroup_read(&cgroup, &usage);
		assert_true(usage.oom_kills >= 1);
		assert_true(usage.has_memory_peak && usage.memory_peak_bytes > limit / 2 &&
		            usage.memory_peak_bytes <= limit);
		close(pidfd);
		cgroup_remove(&cgroup);
	}
}

static void test_within_the_limit_nothing_is_killed(void **state)
{
	(void)state;
	NEEDS(root.has_memory && root.has_cpu);
	struct cgroup cgroup;
	struct cgroup_usage usage;
	struct child_exit ended;
	int pidfd;
	make(&cgroup, UINT64_C(64) << 20, 10);
	if (enter(&cgroup, &pidfd) == 0) {
		touch(16 << 20);
		_exit(0);
	}
	child_wait(pidfd, &ended);
	assert_false(ended.is_signalled);
	cgroup_read(&cgroup, &usage);
	assert_int_equal(usage.oom_kills, 0);
	assert_int_equal(usage.process_denied, 0);
	assert_true(usage.cpu_ns > 0 && usage.memory_peak_bytes >= 16 << 20);
	close(pidfd);
	cgroup_remove(&cgroup);
}

static void test_forks_are_refused_and_counted(void **state)
{
	(void)state;
	NEEDS(root.has_pids);
	struct cgroup cgroup;
	struct cgroup_usage usage;
	struct child_exit ended;
	int pidfd;
	make(&cgroup, 0, 5);
	if (enter(&cgroup, &pidfd) == 0) {
		int made = 0;
		for (int i = 0; i < 20; i++) {
			pid_t pid = fork();
			if (pid == 0)
				for (;;)
					pause();
			made += pid > 0;
		}
		_exit(made);
	}
	child_wait(pidfd, &ended);
	assert_int_equal(ended.code, 4);
	cgroup_read(&cgroup, &usage);
	assert_true(usage.process_denied > 0);
	assert_int_equal(cgroup_kill(&cgroup, soon()), 4);
	assert_int_equal(cgroup_kill(&cgroup, soon()), 0);
	close(pidfd);
	cgroup_remove(&cgroup);
}

static void test_a_fork_bomb_is_killed(void **state)
{
	(void)state;
	NEEDS(root.has_pids);
	struct cgroup cgroup;
	int pidfd;
	make(&cgroup, 0, 100);
	if (enter(&cgroup, &pidfd) == 0)
		for (;;)
			if (fork() == 0)
				setsid();
	clock_sleep_ns(INT64_C(100000000));
	assert_true(cgroup_kill(&cgroup, soon()) > 1);
	close(pidfd);
	cgroup_remove(&cgroup);
	struct cgroup again;
	assert_int_equal(cgroup_find(&again, &root, "test"), -1); /* gone */
}

static void test_a_group_is_found_by_name(void **state)
{
	(void)state;
	NEEDS(root.version != CGROUP_NONE);
	struct cgroup cgroup, found;
	make(&cgroup, 0, 0);
	assert_int_equal(cgroup_find(&found, &root, "test"), 0);
	cgroup_remove(&found);
	cgroup_remove(&cgroup);
	assert_int_equal(cgroup_find(&found, &root, "test"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_memory_limit_acts_up_and_down),
	    cmocka_unit_test(test_within_the_limit_nothing_is_killed),
	    cmocka_unit_test(test_forks_are_refused_and_counted),
	    cmocka_unit_test(test_a_fork_bomb_is_killed),
	    cmocka_unit_test(test_a_group_is_found_by_name),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
