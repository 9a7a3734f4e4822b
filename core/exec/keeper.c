/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One straight line with one loop in it: make the group, start the program, watch, kill what is left, report.
 *
 * CPU time is looked at only as often as it can matter: a tree that has R nanoseconds left on N CPUs cannot use them up
 * before R / N nanoseconds have passed, so that is when the next look is due. A quick program is never looked at.
 */
#include "exec/keeper.h"
#include "base/clock.h"
#include "base/error.h"
#include "exec/launch.h"
#include "sys/child.h"
#include "sys/proctree.h"
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define CPU_LOOK_MIN_NS INT64_C(2000000)
#define CLEAN_UP_NS     INT64_C(5000000000)

struct keeper {
	struct spawn_sheet sheet;
	struct cgroup cgroup;
	int control_fd; /* to the front */
	int stem;       /* pidfd of the stem, later the program */
	int stem_fd;    /* socket to it */
	int64_t started_ns, wall_deadline_ns, next_look_ns;
	int cpus;
	struct keeper_report report;
};

void keeper_cgroup_name(uint64_t sequence, char name[32])
{
	snprintf(name, 32, "%" PRIu64, sequence);
}

static int64_t tree_cpu_ns(const struct keeper *keeper)
{
	return keeper->cgroup.root->has_cpu ? cgroup_cpu_ns(&keeper->cgroup) : proctree_cpu_ns();
}

/* Clones the stem and waits until it is in its place. On failure the report holds the reason. */
static bool grow_stem(struct keeper *keeper)
{
	int ends[2];
	if (fdpass_pair(ends)) {
		error_set(&keeper->report.error, ASSAY_SYSTEM, errno, "cannot make a socket pair");
		return false;
	}
	bool is_v2 = keeper->cgroup.root->version == CGROUP_V2;
	pid_t pid = child_clone(is_v2 ? CLONE_INTO_CGROUP : 0, is_v2 ? keeper->cgroup.v2_fd : -1, &keeper->stem);
	if (pid == 0) {
		close(ends[0]);
		close(keeper->control_fd);
		launch_stem(&keeper->cgroup, ends[1]);
	}
	int saved = errno;
	close(ends[1]);
	keeper->stem_fd = ends[0];
	if (pid < 0) {
		error_set(&keeper->report.error, ASSAY_SYSTEM, saved, "cannot clone the program's process");
		return false;
	}
	struct assay_error err;
	size_t no_fds = 0;
	ssize_t len = fdpass_receive(keeper->stem_fd, &err, sizeof(err), NULL, &no_fds);
	if (len == sizeof(err))
		keeper->report.error = err;
	else if (len != 1)
		error_set(&keeper->report.error, ASSAY_SYSTEM, 0, "the program's process died before it was one");
	return len == 1;
}

/* Waits for START, sets the limits and passes it on. False when the front is gone or something failed. */
static bool start(struct keeper *keeper)
{
	char byte;
	int fds[SPAWN_FD_MAX];
	size_t count = SPAWN_FD_MAX;
	struct assay_error *err = &keeper->report.error;
	if (fdpass_receive(keeper->control_fd, &byte, 1, fds, &count) != 1)
		return false;
	bool is_whole = count >= SPAWN_FD_MIN;
	if (!is_whole)
		error_set(err, ASSAY_INTERNAL, 0, "the start message lacks descriptors");
	else if (sheet_read(fds[SPAWN_SHEET], &keeper->sheet, err) == 0) {
		const struct limits *limits = &keeper->sheet.limits;
		const struct cgroup_limits group = {.memory_bytes = limits->memory_bytes,
		                                    .processes = (uint64_t)limits->processes};
		keeper->started_ns = clock_now_ns();
		keeper->wall_deadline_ns = keeper->started_ns + limits->wall_ns;
		keeper->next_look_ns = keeper->started_ns + limits->cpu_ns / keeper->cpus;
		if (cgroup_limit(&keeper->cgroup, &group, err) == 0 &&
		    fdpass_send(keeper->stem_fd, &byte, 1, fds, count))
			error_set(err, ASSAY_SYSTEM, errno, "the program's process died before it was one");
	}
	/* The program alone holds its ends now, so that their other ends see it close them. */
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	return err->status == 0;
}

/* True when the CPU limit is reached; otherwise sets when to look again. */
static bool is_cpu_used_up(struct keeper *keeper, int64_t now_ns)
{
	int64_t left_ns = keeper->sheet.limits.cpu_ns - tree_cpu_ns(keeper);
	if (left_ns <= 0)
		return true;
	keeper->next_look_ns = now_ns + MAX(left_ns / keeper->cpus, CPU_LOOK_MIN_NS);
	return false;
}

/* Returns how the run ended; the program may be alive still. */
static enum keeper_end watch(struct keeper *keeper)
{
	enum { PROGRAM, CONTROL, LAUNCH, OOM };
	struct pollfd fds[] = {
	    [PROGRAM] = {.fd = keeper->stem, .events = POLLIN},
	    [CONTROL] = {.fd = keeper->control_fd, .events = POLLIN},
	    [LAUNCH] = {.fd = keeper->stem_fd, .events = POLLIN},
	    [OOM] = {.fd = keeper->cgroup.oom_event_fd,
	             .events = keeper->cgroup.root->version == CGROUP_V2 ? POLLPRI : POLLIN},
	};
	for (;;) {
		int64_t wake_ns = MIN(keeper->wall_deadline_ns, keeper->next_look_ns);
		if (poll(fds, COUNT_OF(fds), clock_poll_ms(wake_ns)) < 0 && errno != EINTR) {
			error_set(&keeper->report.error, ASSAY_SYSTEM, errno, "poll");
			return KEEPER_FAILED;
		}
		if (fds[LAUNCH].revents) {
			size_t no_fds = 0;
			struct assay_error *err = &keeper->report.error;
			if (fdpass_receive(keeper->stem_fd, err, sizeof(*err), NULL, &no_fds) > 0)
				return KEEPER_FAILED;
			fds[LAUNCH].fd = -1; /* closed without a word: the program runs */
		}
		if (fds[PROGRAM].revents)
			return KEEPER_EXITED;
		if (fds[CONTROL].revents)
			return KEEPER_STOPPED;
		if (fds[OOM].revents && cgroup_has_oom_kill(&keeper->cgroup))
			return KEEPER_MEMORY;
		int64_t now_ns = clock_now_ns();
		if (now_ns >= keeper->next_look_ns && is_cpu_used_up(keeper, now_ns))
			return KEEPER_CPU;
		if (now_ns >= keeper->wall_deadline_ns)
			return KEEPER_WALL;
	}
}

/* Ends and reaps the program and all it left; fills in what was used. */
static void collect(struct keeper *keeper)
{
	struct keeper_report *report = &keeper->report;
	int64_t descendants_cpu_ns = keeper->cgroup.root->has_cpu ? 0 : proctree_cpu_ns();
	bool was_alive = report->end != KEEPER_EXITED;
	if (was_alive)
		child_signal(keeper->stem, SIGKILL);
	struct child_exit ended = {0};
	child_wait(keeper->stem, &ended);
	report->wall_ns = clock_now_ns() - keeper->started_ns;
	report->is_signalled = ended.is_signalled;
	report->code = ended.code;

	int64_t deadline_ns = clock_now_ns() + CLEAN_UP_NS;
	int left = keeper->cgroup.root->version != CGROUP_NONE ? cgroup_kill(&keeper->cgroup, deadline_ns) : 0;
	/* Also catches what a privileged program has moved out of its cgroup. */
	int strays = proctree_kill_descendants(deadline_ns);
	if (left < 0 || strays < 0)
		error_set(&report->error, ASSAY_SYSTEM, 0, "processes of the box could not be killed");
	report->left_processes = MAX(left, 0) + MAX(strays, 0);

	struct rusage reaped;
	getrusage(RUSAGE_CHILDREN, &reaped);
	struct cgroup_usage usage;
	cgroup_read(&keeper->cgroup, &usage);
	report->oom_kills = usage.oom_kills;
	report->process_denied = usage.process_denied;
	report->cpu_ns = usage.cpu_ns;
	if (usage.cpu_ns < 0)
		report->cpu_ns =
		    MAX(descendants_cpu_ns, (reaped.ru_utime.tv_sec + reaped.ru_stime.tv_sec) * INT64_C(1000000000) +
		                                (reaped.ru_utime.tv_usec + reaped.ru_stime.tv_usec) * INT64_C(1000));
	report->memory_peak_bytes = usage.has_memory_peak ? usage.memory_peak_bytes : (uint64_t)reaped.ru_maxrss << 10;
}

static void set_up(struct keeper *keeper)
{
	cpu_set_t cpus;
	prctl(PR_SET_NAME, "assay-keeper");
	setsid(); /* signals to the terminal's group are the front's business */
	keeper->cpus = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : MAX(CPU_COUNT(&cpus), 1);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		error_set(&keeper->report.error, ASSAY_SYSTEM, errno, "PR_SET_CHILD_SUBREAPER");
}

void keeper_run(const struct cgroup_root *root, uint64_t sequence, int control_fd)
{
	struct keeper keeper = {.control_fd = control_fd, .stem = -1, .stem_fd = -1};
	struct keeper_report *report = &keeper.report;
	char name[32];
	keeper_cgroup_name(sequence, name);
	report->end = KEEPER_FAILED;
	set_up(&keeper);
	bool has_cgroup = report->error.status == 0 && cgroup_make(&keeper.cgroup, root, name, &report->error) == 0;
	if (has_cgroup && grow_stem(&keeper) && start(&keeper))
		report->end = watch(&keeper);
	if (keeper.stem >= 0)
		collect(&keeper);
	/* A front that is gone does not read this; nothing of the box is left either way but its empty cgroup. */
	fdpass_send(control_fd, report, sizeof(*report), NULL, 0);
	if (has_cgroup)
		cgroup_remove(&keeper.cgroup);
	_exit(0);
}
