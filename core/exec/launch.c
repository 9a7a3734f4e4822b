/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/launch.h"
#include "base/error.h"
#include "base/str.h"
#include "sys/child.h"
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LOW_FD     10
#define OPEN_FILES 1024 /* what programs expect; select(2) breaks above it */

static _Noreturn void fail(int error_fd, int status, int sys_errno, const char *what)
{
	struct assay_error err = {0};
	error_set(&err, status, sys_errno, "%s", what);
	fdpass_send(error_fd, &err, sizeof(err), NULL, 0);
	_exit(127);
}

/* Lowers a limit; one that is already lower stays (a container may have set it, and raising it would fail). */
static void lower_limit(int error_fd, __rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit))
		fail(error_fd, ASSAY_SYSTEM, errno, "cannot read a resource limit");
	limit.rlim_max = MIN(limit.rlim_max, value);
	limit.rlim_cur = MIN(value, limit.rlim_max);
	if (setrlimit(resource, &limit))
		fail(error_fd, ASSAY_SYSTEM, errno, "cannot set a resource limit");
}

static void set_limits(int error_fd, const struct limits *limits, const struct cgroup *cgroup)
{
	lower_limit(error_fd, RLIMIT_CORE, 0);
	lower_limit(error_fd, RLIMIT_NOFILE, OPEN_FILES);
	lower_limit(error_fd, RLIMIT_FSIZE, limits->file_bytes);
	/* The keeper judges CPU time; this ends a program whose keeper has been killed. */
	lower_limit(error_fd, RLIMIT_CPU, (rlim_t)(limits->cpu_ns / 1000000000) + 2);
	/*
	 * Without a memory cgroup: private writable memory of each process. Not RLIMIT_AS, which runtimes that reserve
	 * address space (JVM, Go, Node) cannot live with.
	 */
	if (!cgroup->root->has_memory)
		lower_limit(error_fd, RLIMIT_DATA, limits->memory_bytes);
	/* Counts all processes of the user, so it bounds a fork bomb but is no exact limit. */
	if (!cgroup->root->has_pids)
		lower_limit(error_fd, RLIMIT_NPROC, (rlim_t)limits->processes + 1024);
}

/* Places the program's descriptors at 0, 1, 2 and, with a mark channel, 3. */
static void place_descriptors(int error_fd, const int fds[SPAWN_FD_MAX])
{
	if (dup2(fds[SPAWN_STDIN], 0) < 0 || dup2(fds[SPAWN_STDOUT], 1) < 0 || dup2(fds[SPAWN_STDERR], 2) < 0)
		fail(error_fd, ASSAY_SYSTEM, errno, "cannot place the standard streams");
	int next = 3;
	if (fds[SPAWN_MARK] >= 0) {
		if (dup2(fds[SPAWN_MARK], 3) < 0)
			fail(error_fd, ASSAY_SYSTEM, errno, "cannot place the mark channel");
		next = 4;
	}
	/* All else closes at exec, error_fd included: its end without an error is the sign of success. */
	if (close_range((unsigned)next, UINT_MAX, CLOSE_RANGE_CLOEXEC))
		fail(error_fd, ASSAY_SYSTEM, errno, "close_range");
}

static void take_identity(int error_fd, const struct spawn_sheet *sheet)
{
	if (!sheet->has_identity)
		return;
	if (setgroups(0, NULL) || setresgid(sheet->gid, sheet->gid, sheet->gid) ||
	    setresuid(sheet->uid, sheet->uid, sheet->uid))
		fail(error_fd, ASSAY_SYSTEM, errno, "cannot take the box's user id");
}

/* execvpe(3) by hand: the path searched is the box's own, and the error kept is the most telling one. */
static int exec_in_path(char *const *argv, char *const *env)
{
	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, env);
		return errno;
	}
	const char *path = "";
	for (char *const *item = env; *item; item++)
		if (!strncmp(*item, "PATH=", 5))
			path = *item + 5;
	int found = ENOENT;
	struct assay_str rest = str_of(path), folder;
	while (str_cut(&rest, ':', &folder)) {
		char file[PATH_MAX];
		size_t name_len = strlen(argv[0]);
		if (folder.len == 0 || folder.len + name_len + 2 > sizeof(file))
			continue;
		memcpy(file, folder.ptr, folder.len);
		file[folder.len] = '/';
		memcpy(file + folder.len + 1, argv[0], name_len + 1);
		execve(file, argv, env);
		if (errno != ENOENT && errno != ENOTDIR)
			found = errno;
	}
	return found;
}

/* Waits for START; a keeper that is gone needs no program. */
static void receive_start(int keeper_fd, struct spawn_sheet *sheet, int fds[SPAWN_FD_MAX])
{
	char byte;
	size_t count = SPAWN_FD_MAX;
	struct assay_error err = {0};
	fds[SPAWN_MARK] = -1;
	if (fdpass_receive(keeper_fd, &byte, 1, fds, &count) != 1)
		_exit(0);
	if (count < SPAWN_FD_MIN)
		fail(keeper_fd, ASSAY_INTERNAL, 0, "the start message lacks descriptors");
	for (size_t i = 0; i < count; i++) /* above the numbers that dup2 will place them at */
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, LOW_FD);
	if (sheet_read(fds[SPAWN_SHEET], sheet, &err))
		fail(keeper_fd, err.status, err.sys_errno, err.message);
}

void launch_stem(const struct cgroup *cgroup, int keeper_fd)
{
	struct spawn_sheet sheet;
	int fds[SPAWN_FD_MAX];
	const char ready = STEM_READY;
	/* A keeper that is killed takes the program along. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		fail(keeper_fd, ASSAY_SYSTEM, errno, "PR_SET_PDEATHSIG");
	if (cgroup->root->version == CGROUP_V1 && cgroup_enter(cgroup)) /* v2: cloned into it */
		fail(keeper_fd, ASSAY_SYSTEM, errno, "cannot enter the box's cgroup");
	setsid();
	umask(022);
	fdpass_send(keeper_fd, &ready, 1, NULL, 0);
	receive_start(keeper_fd, &sheet, fds);
	if (fchdir(fds[SPAWN_WORKSPACE]))
		fail(keeper_fd, ASSAY_SYSTEM, errno, "cannot enter the workspace");
	set_limits(keeper_fd, &sheet.limits, cgroup);
	place_descriptors(keeper_fd, fds);
	take_identity(keeper_fd, &sheet);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL)) /* again: another user id has cleared it */
		fail(keeper_fd, ASSAY_SYSTEM, errno, "PR_SET_PDEATHSIG");
	child_reset_signals();
	int failure = exec_in_path(sheet.argv, sheet.env);
	char what[200];
	snprintf(what, sizeof(what), "cannot run '%.120s'", sheet.argv[0]);
	fail(keeper_fd, failure == ENOENT ? ASSAY_MISSING : ASSAY_SYSTEM, failure, what);
}
