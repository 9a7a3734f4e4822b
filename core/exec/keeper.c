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
	const struct spawn_sheet *sheet;
	const int *fds;
	struct cgroup cgroup;
	int program; /* pidfd */
	int error_fd;
	int64_t started_ns, wall_deadline_ns, next_look_ns;
	int cpus;
	struct keeper_report report;
};

void keeper_cgroup_name(uint64_t sequence, char name[32])
{
	snprintf(name, 32, "box-%" PRIu64, sequence);
}

static int64_t tree_cpu_ns(const struct keeper *keeper)
{
	return keeper->cgroup.root->has_cpu ? cgroup_cpu_ns(&keeper->cgroup) : proctree_cpu_ns();
}

/* Starts the program. On failure the report holds the reason. */
static bool start(struct keeper *keeper)
{
	int error_pipe[2];
	if (pipe2(error_pipe, O_CLOEXEC)) {
		error_set(&keeper->report.error, ASSAY_SYSTEM, errno, "cannot make a pipe");
		return false;
	}
	bool is_v2 = keeper->cgroup.root->version == CGROUP_V2;
	keeper->started_ns = clock_now_ns();
	pid_t pid = child_clone(is_v2 ? CLONE_INTO_CGROUP : 0, is_v2 ? keeper->cgroup.v2_fd : -1, &keeper->program);
	if (pid == 0)
		launch_program(keeper->sheet, keeper->fds, &keeper->cgroup, error_pipe[1]);
	int saved = errno;
	close(error_pipe[1]);
	keeper->error_fd = error_pipe[0];
	if (pid < 0) {
		error_set(&keeper->report.error, ASSAY_SYSTEM, saved, "cannot clone the program");
		return false;
	}
	/* The program alone holds its ends now, so that their other ends see it close them. */
	for (int i = SPAWN_WORKSPACE; i < SPAWN_FD_MAX; i++)
		if (keeper->fds[i] >= 0)
			close(keeper->fds[i]);
	keeper->wall_deadline_ns = keeper->started_ns + keeper->sheet->limits.wall_ns;
	keeper->next_look_ns = keeper->started_ns + keeper->sheet->limits.cpu_ns / keeper->cpus;
	return true;
}

/* True when the CPU limit is reached; otherwise sets when to look again. */
static bool is_cpu_used_up(struct keeper *keeper, int64_t now_ns)
{
	int64_t left_ns = keeper->sheet->limits.cpu_ns - tree_cpu_ns(keeper);
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
	    [PROGRAM] = {.fd = keeper->program, .events = POLLIN},
	    [CONTROL] = {.fd = keeper->fds[SPAWN_CONTROL], .events = POLLIN},
	    [LAUNCH] = {.fd = keeper->error_fd, .events = POLLIN},
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
			if (read(keeper->error_fd, &keeper->report.error, sizeof(keeper->report.error)) > 0)
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
		child_signal(keeper->program, SIGKILL);
	struct child_exit ended = {0};
	child_wait(keeper->program, &ended);
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

void keeper_run(const struct cgroup_root *root, uint64_t sequence, const struct spawn_sheet *sheet,
                const int fds[SPAWN_FD_MAX])
{
	struct keeper keeper = {.sheet = sheet, .fds = fds, .program = -1, .error_fd = -1};
	struct keeper_report *report = &keeper.report;
	report->end = KEEPER_FAILED;
	prctl(PR_SET_NAME, "assay-keeper");
	setsid(); /* signals to the terminal's group are the front's business */
	cpu_set_t cpus;
	keeper.cpus = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : MAX(CPU_COUNT(&cpus), 1);

	char name[32];
	keeper_cgroup_name(sequence, name);
	struct cgroup_limits limits = {.memory_bytes = sheet->limits.memory_bytes,
	                               .processes = (uint64_t)sheet->limits.processes};
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		error_set(&report->error, ASSAY_SYSTEM, errno, "PR_SET_CHILD_SUBREAPER");
	else if (cgroup_make(&keeper.cgroup, root, name, &limits, &report->error) == 0) {
		if (start(&keeper)) {
			report->end = watch(&keeper);
			collect(&keeper);
		}
		cgroup_remove(&keeper.cgroup);
	}
	/* A front that is gone does not read this; nothing of the box is left either way. */
	fdpass_send(fds[SPAWN_CONTROL], report, sizeof(*report), NULL, 0);
	_exit(0);
}
