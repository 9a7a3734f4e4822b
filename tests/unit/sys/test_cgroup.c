/* SPDX-License-Identifier: Apache-2.0 */
/* Whichever version this host has; without one the tests are skipped, and say so. */
#include "../test.h"
#include "base/clock.h"
#include "base/error.h"
#include "sys/cgroup.h"
#include "sys/cgroup_files.h"
#include "sys/child.h"
#include "sys/fdpass.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP UINT64_C(0x200000000) /* <linux/sched.h>, which <sched.h> does not go with */
#endif

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
	cgroup_root_close(&root);
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

/* Waits until the group has so many members: entering can take the kernel a while. */
static void wait_for_members(const struct cgroup *cgroup, int count)
{
	const int fds[] = {cgroup->v2_fd, cgroup->memory_fd, cgroup->pids_fd, cgroup->cpu_fd};
	for (int i = 0; i < 30000; i++) {
		bool is_whole = true;
		for (size_t k = 0; k < COUNT_OF(fds); k++)
			is_whole &= fds[k] < 0 || cgroup_signal(fds[k], 0) >= count;
		if (is_whole)
			return;
		clock_sleep_ns(INT64_C(1000000));
	}
	fail_msg("nobody has entered the group");
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
	wait_for_members(&cgroup, 10);
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

static uint64_t number_in(int folder, const char *name)
{
	uint64_t value = 0;
	assert_true(cgroup_read_number(folder, name, &value));
	return value;
}

static void test_limits_read_back_on_one_group(void **state)
{
	(void)state;
	NEEDS(root.has_memory && root.has_pids);
	static const uint64_t mebibytes[] = {16, 32, 16};
	struct cgroup cgroup;
	struct assay_error err = {0};
	bool is_v2 = root.version == CGROUP_V2;
	make(&cgroup, 0, 0);
	int event_fd = -1;
	for (size_t i = 0; i < COUNT_OF(mebibytes); i++) {
		const struct cgroup_limits limits = {.memory_bytes = mebibytes[i] << 20, .processes = 7 + i};
		if (cgroup_limit(&cgroup, &limits, &err))
			fail_msg("%s", err.message);
		int memory = is_v2 ? cgroup.v2_fd : cgroup.memory_fd;
		assert_int_equal(number_in(memory, is_v2 ? "memory.max" : "memory.limit_in_bytes"),
		                 limits.memory_bytes);
		if (root.has_swap_limit)
			assert_int_equal(number_in(memory, is_v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes"),
			                 is_v2 ? 0 : limits.memory_bytes);
		assert_int_equal(number_in(is_v2 ? cgroup.v2_fd : cgroup.pids_fd, "pids.max"), limits.processes);
		assert_true(event_fd < 0 || cgroup.oom_event_fd == event_fd); /* none is lost */
		event_fd = cgroup.oom_event_fd;
	}
	cgroup_remove(&cgroup);
}

/* None of the four is over the limit alone. */
static void test_forks_share_one_limit(void **state)
{
	(void)state;
	NEEDS(root.has_memory);
	struct cgroup cgroup;
	struct cgroup_usage usage;
	int pidfd;
	make(&cgroup, UINT64_C(32) << 20, 0);
	if (enter(&cgroup, &pidfd) == 0) {
		for (int i = 0; i < 4; i++)
			if (fork() == 0) {
				touch(12 << 20);
				for (;;)
					pause();
			}
		for (;;)
			pause();
	}
	for (int i = 0; i < 1000 && !cgroup_has_oom_kill(&cgroup); i++)
		clock_sleep_ns(INT64_C(10000000));
	cgroup_read(&cgroup, &usage);
	assert_true(usage.oom_kills >= 1);
	assert_true(cgroup_kill(&cgroup, soon()) >= 0);
	close(pidfd);
	cgroup_remove(&cgroup);
}

/* The main process lives on and ends nothing, so that the event is all there is to go by. */
static void test_an_event_is_not_missed(void **state)
{
	(void)state;
	NEEDS(root.has_memory);
	for (int i = 0; i < 30; i++) {
		struct cgroup cgroup;
		int pidfd;
		make(&cgroup, UINT64_C(8) << 20, 0);
		if (enter(&cgroup, &pidfd) == 0) {
			if (fork() == 0) {
				touch(32 << 20);
				_exit(0);
			}
			for (;;)
				pause();
		}
		struct pollfd oom = {.fd = cgroup.oom_event_fd, .events = root.version == CGROUP_V2 ? POLLPRI : POLLIN};
		bool has_kill = false;
		while (!has_kill && poll(&oom, 1, 3000) == 1) /* as a keeper does */
			has_kill = cgroup_has_oom_kill(&cgroup);
		assert_true(has_kill);
		assert_true(cgroup_kill(&cgroup, soon()) >= 0);
		close(pidfd);
		cgroup_remove(&cgroup);
	}
}

static void test_no_kill_is_no_kill(void **state)
{
	(void)state;
	NEEDS(root.has_memory);
	struct cgroup cgroup;
	make(&cgroup, UINT64_C(16) << 20, 0);
	assert_false(cgroup_has_oom_kill(&cgroup));
	cgroup_remove(&cgroup);
	make(&cgroup, 0, 0);
	assert_false(cgroup_has_oom_kill(&cgroup)); /* without a limit there is no event either */
	cgroup_remove(&cgroup);
}

/* Forks that the kill itself refuses are not over the program's limit. */
static void test_what_the_kill_refuses_is_not_counted(void **state)
{
	(void)state;
	NEEDS(root.has_pids);
	for (int i = 0; i < 30; i++) {
		struct cgroup cgroup;
		struct cgroup_usage usage;
		int pidfd;
		make(&cgroup, 0, 100);
		if (enter(&cgroup, &pidfd) == 0) {
			for (int k = 0; k < 3; k++) /* eight that fork, so that the kill meets a fork */
				fork();
			for (;;) {
				pid_t child = fork();
				if (child == 0)
					_exit(0);
				if (child > 0)
					waitpid(child, NULL, 0);
			}
		}
		wait_for_members(&cgroup, 8);
		assert_true(cgroup_kill(&cgroup, soon()) >= 1);
		cgroup_read(&cgroup, &usage);
		assert_int_equal(usage.process_denied, 0);
		close(pidfd);
		cgroup_remove(&cgroup);
	}
}

/* More than the kernel lists in one read; among them daemons and stopped ones. */
static void test_many_processes_are_killed(void **state)
{
	(void)state;
	NEEDS(root.version != CGROUP_NONE);
	enum { MANY = 1000 };
	struct cgroup cgroup;
	int pidfd;
	make(&cgroup, 0, 0);
	if (enter(&cgroup, &pidfd) == 0) {
		for (int i = 1; i < MANY; i++)
			if (fork() == 0) {
				if (i % 3 == 0)
					setsid();
				if (i % 3 == 1)
					raise(SIGSTOP);
				for (;;)
					pause();
			}
		raise(SIGSTOP);
	}
	siginfo_t info;
	assert_int_equal(waitid(P_PIDFD, (id_t)pidfd, &info, WSTOPPED), 0);
	assert_int_equal(cgroup_kill(&cgroup, soon()), MANY);
	while (waitpid(-1, NULL, __WALL) > 0) /* none that would be waited for in vain */
		;
	assert_int_equal(errno, ECHILD);
	close(pidfd);
	cgroup_remove(&cgroup);
}

static void test_a_deadline_that_has_passed(void **state)
{
	(void)state;
	NEEDS(root.version != CGROUP_NONE);
	struct cgroup cgroup;
	int pidfd;
	make(&cgroup, 0, 0);
	assert_int_equal(cgroup_kill(&cgroup, 0), 0); /* nothing to wait for */
	if (enter(&cgroup, &pidfd) == 0)
		for (;;)
			pause();
	wait_for_members(&cgroup, 1);
	cgroup_kill(&cgroup, 0); /* may be in time or not */
	assert_true(cgroup_kill(&cgroup, soon()) >= 0);
	close(pidfd);
	cgroup_remove(&cgroup);
}

/* A program that may write here makes groups of its own and hides in them. */
static void hide_in(int folder)
{
	if (folder < 0 || mkdirat(folder, "inner", 0755) || mkdirat(folder, "inner/most", 0755))
		return;
	int most = openat(folder, "inner/most", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(cgroup_write(most, "cgroup.procs", "0"), 0);
	close(most);
}

static void test_groups_within_are_killed_and_removed(void **state)
{
	(void)state;
	NEEDS(root.version != CGROUP_NONE);
	struct cgroup cgroup, again;
	int pidfd;
	make(&cgroup, 0, 10);
	if (enter(&cgroup, &pidfd) == 0) {
		const int folders[] = {cgroup.v2_fd, cgroup.memory_fd, cgroup.pids_fd, cgroup.cpu_fd};
		for (size_t i = 0; i < COUNT_OF(folders); i++)
			hide_in(folders[i]);
		raise(SIGSTOP);
	}
	siginfo_t info;
	assert_int_equal(waitid(P_PIDFD, (id_t)pidfd, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_STOPPED);
	assert_int_equal(cgroup_kill(&cgroup, soon()), 1);
	close(pidfd);
	cgroup_remove(&cgroup);
	assert_int_equal(cgroup_find(&again, &root, "test"), -1);
}

/* A root whose owner is gone, with a process alive in a group of it; ours, whose owner lives, stays. */
static void test_what_a_crash_left_is_swept(void **state)
{
	(void)state;
	NEEDS(root.version != CGROUP_NONE);
	struct child_exit ended;
	int owner = -1, ends[2], left = -1;
	assert_int_equal(fdpass_pair(ends), 0);
	pid_t pid = child_clone(0, -1, &owner);
	if (pid == 0) {
		char name[24];
		struct cgroup_root crashed;
		struct cgroup cgroup;
		struct assay_error err = {0};
		int pidfd = -1;
		snprintf(name, sizeof(name), "%d", getpid());
		cgroup_root_open(&crashed, name);
		if (cgroup_make(&cgroup, &crashed, "left", &err))
			_exit(1);
		pid_t inner = child_clone(0, -1, &pidfd);
		if (inner == 0) {
			if (cgroup_enter(&cgroup) || fdpass_send(ends[1], "x", 1, NULL, 0))
				_exit(1);
			for (;;)
				pause();
		}
		char byte;
		size_t none = 0;
		fdpass_receive(ends[0], &byte, 1, NULL, &none);
		fdpass_send(ends[1], "x", 1, &pidfd, 1);
		_exit(0);
	}
	assert_int_equal(child_wait(owner, &ended), 0);
	assert_int_equal(ended.code, 0);
	char byte, folder[64];
	size_t count = 1;
	assert_int_equal(fdpass_receive(ends[0], &byte, 1, &left, &count), 1);
	struct cgroup ours;
	make(&ours, 0, 0);
	cgroup_root_sweep(); /* how many is not ours to say: others on this host may sweep too */
	assert_int_equal(child_wait(left, &ended), 0); /* an orphan, which came to this subreaper */
	assert_true(ended.is_signalled && ended.code == SIGKILL);
	cgroup_root_sweep(); /* for what was a zombie of ours until now */
	snprintf(folder, sizeof(folder), "assay-%d-left", pid);
	const int roots[] = {root.v2_fd, root.memory_fd, root.pids_fd, root.cpu_fd};
	for (size_t i = 0; i < COUNT_OF(roots); i++)
		if (roots[i] >= 0)
			assert_int_equal(faccessat(roots[i], folder, F_OK, 0), -1);
	struct cgroup found;
	assert_int_equal(cgroup_find(&found, &root, "test"), 0);
	cgroup_remove(&found);
	cgroup_remove(&ours);
	const int fds[] = {owner, left, ends[0], ends[1]};
	for (size_t i = 0; i < COUNT_OF(fds); i++)
		close(fds[i]);
}

/* Exit codes of the ways to be without cgroups: 0 as it should be, 1 not so, 2 cannot be tried here. */
static int open_without(void)
{
	struct cgroup_root none;
	struct cgroup cgroup;
	struct cgroup_usage usage;
	struct assay_error err = {0};
	const struct cgroup_limits limits = {.memory_bytes = 1 << 20, .processes = 1};
	cgroup_root_open(&none, "1");
	cgroup_root_sweep();
	bool is_right = none.version == CGROUP_NONE && strstr(none.reason, "Delegate=yes") &&
	                cgroup_make(&cgroup, &none, "test", &err) == 0 && cgroup_limit(&cgroup, &limits, &err) == 0 &&
	                cgroup_enter(&cgroup) == 0 && cgroup_kill(&cgroup, 0) == 0 && !cgroup_has_oom_kill(&cgroup);
	cgroup_read(&cgroup, &usage);
	is_right &= usage.cpu_ns == -1 && usage.oom_kills == 0 && usage.process_denied == 0 && !usage.has_memory_peak;
	cgroup_remove(&cgroup);
	is_right &= cgroup_find(&cgroup, &none, "test") == -1;
	cgroup_root_close(&none);
	return is_right ? 0 : 1;
}

static int open_covered(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("test", "/sys/fs/cgroup", "tmpfs", 0, NULL))
		return 2;
	return open_without();
}

static int open_read_only(void)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    syscall(SYS_mount_setattr, AT_FDCWD, "/sys/fs/cgroup", AT_RECURSIVE, &attr, sizeof(attr)))
		return 2;
	return open_without();
}

static int open_without_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("test", "/proc", "tmpfs", 0, NULL))
		return 2;
	return open_without();
}

static int open_as_nobody(void)
{
	return geteuid() != 0 || setgid(54321) || setuid(54321) ? 2 : open_without();
}

static void test_without_a_cgroup_nothing_breaks(void **state)
{
	(void)state;
	static int (*const ways[])(void) = {open_covered, open_read_only, open_without_proc, open_as_nobody};
	size_t skipped = 0;
	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		int pidfd = -1;
		struct child_exit ended;
		pid_t pid = child_clone(0, -1, &pidfd);
		if (pid == 0)
			_exit(ways[i]());
		assert_int_equal(child_wait(pidfd, &ended), 0);
		close(pidfd);
		skipped += ended.code == 2;
		if (ended.is_signalled || (ended.code != 0 && ended.code != 2))
			fail_msg("way %zu ended with %d", i, ended.code);
	}
	if (skipped == COUNT_OF(ways)) {
		print_message("skipped: mounts cannot be changed here\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_memory_limit_acts_up_and_down),
	    cmocka_unit_test(test_within_the_limit_nothing_is_killed),
	    cmocka_unit_test(test_forks_are_refused_and_counted),
	    cmocka_unit_test(test_a_fork_bomb_is_killed),
	    cmocka_unit_test(test_a_group_is_found_by_name),
	    cmocka_unit_test(test_limits_read_back_on_one_group),
	    cmocka_unit_test(test_forks_share_one_limit),
	    cmocka_unit_test(test_an_event_is_not_missed),
	    cmocka_unit_test(test_no_kill_is_no_kill),
	    cmocka_unit_test(test_what_the_kill_refuses_is_not_counted),
	    cmocka_unit_test(test_many_processes_are_killed),
	    cmocka_unit_test(test_a_deadline_that_has_passed),
	    cmocka_unit_test(test_groups_within_are_killed_and_removed),
	    cmocka_unit_test(test_what_a_crash_left_is_swept),
	    cmocka_unit_test(test_without_a_cgroup_nothing_breaks),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
