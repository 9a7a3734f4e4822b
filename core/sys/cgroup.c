/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v1 keeps one hierarchy a controller, v2 one for all. Both are plain files below folders, so what differs is a few
 * names and the rest is common.
 */
#include "sys/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "sys/cgroup_files.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROUND_NS    INT64_C(200000)
#define OOM_WAIT_NS INT64_C(50000000)

/* The folders of a group, wherever it has any. */
struct folders {
	int *fds[4];
	int roots[4];
};

static struct folders folders_of(struct cgroup *cgroup, const struct cgroup_root *root)
{
	return (struct folders){{&cgroup->v2_fd, &cgroup->memory_fd, &cgroup->pids_fd, &cgroup->cpu_fd},
	                        {root->v2_fd, root->memory_fd, root->pids_fd, root->cpu_fd}};
}

static void start_group(struct cgroup *cgroup, const struct cgroup_root *root, const char *name)
{
	*cgroup = (struct cgroup){
	    .root = root, .v2_fd = -1, .memory_fd = -1, .pids_fd = -1, .cpu_fd = -1, .oom_event_fd = -1};
	snprintf(cgroup->name, sizeof(cgroup->name), "%s-%s", root->prefix, name);
}

static int limit_memory_v1(const struct cgroup *cgroup, uint64_t bytes)
{
	/* Memory + swap must never be below memory: going down memory is first, going up it is refused at first. */
	int failed = cgroup_write_number(cgroup->memory_fd, "memory.limit_in_bytes", bytes);
	if (!cgroup->root->has_swap_limit)
		return failed;
	if (cgroup_write_number(cgroup->memory_fd, "memory.memsw.limit_in_bytes", bytes))
		return -1;
	return failed ? cgroup_write_number(cgroup->memory_fd, "memory.limit_in_bytes", bytes) : 0;
}

static int limit_memory_v2(const struct cgroup *cgroup, uint64_t bytes)
{
	cgroup_write(cgroup->v2_fd, "memory.swap.max", "0"); /* absent on a host without swap */
	cgroup_write(cgroup->v2_fd, "memory.oom.group", "1");
	return cgroup_write_number(cgroup->v2_fd, "memory.max", bytes);
}

/* What was asked for is what is in force, rounded down to pages. */
static int check_memory(const struct cgroup *cgroup, uint64_t bytes, struct assay_error *err)
{
	bool is_v2 = cgroup->root->version == CGROUP_V2;
	uint64_t in_force;
	if (!cgroup_read_number(is_v2 ? cgroup->v2_fd : cgroup->memory_fd,
	                        is_v2 ? "memory.max" : "memory.limit_in_bytes", &in_force) ||
	    in_force > bytes)
		return error_set(err, ASSAY_SYSTEM, 0, "the kernel did not take the memory limit");
	return 0;
}

static void watch_oom(struct cgroup *cgroup)
{
	if (cgroup->oom_event_fd >= 0)
		return;
	if (cgroup->root->version == CGROUP_V2) {
		cgroup->oom_event_fd = openat(cgroup->v2_fd, "memory.events", O_RDONLY | O_CLOEXEC);
		char text[512]; /* POLLPRI tells of changes since the last read */
		ssize_t n = cgroup->oom_event_fd >= 0 ? read(cgroup->oom_event_fd, text, sizeof(text)) : 0;
		(void)n;
		return;
	}
	auto_close int control = openat(cgroup->memory_fd, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	cgroup->oom_event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char text[48];
	snprintf(text, sizeof(text), "%d %d", cgroup->oom_event_fd, control);
	if (control < 0 || cgroup_write(cgroup->memory_fd, "cgroup.event_control", text)) {
		close(cgroup->oom_event_fd);
		cgroup->oom_event_fd = -1; /* the counter still tells at the end */
	}
}

int cgroup_limit(struct cgroup *cgroup, const struct cgroup_limits *limits, struct assay_error *err)
{
	bool is_v2 = cgroup->root->version == CGROUP_V2;
	if (cgroup->root->has_memory && limits->memory_bytes) {
		int failed = is_v2 ? limit_memory_v2(cgroup, limits->memory_bytes)
		                   : limit_memory_v1(cgroup, limits->memory_bytes);
		if (failed)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot set the memory limit");
		int status = check_memory(cgroup, limits->memory_bytes, err);
		if (status)
			return status;
		watch_oom(cgroup);
	}
	if (cgroup->root->has_pids && limits->processes &&
	    cgroup_write_number(is_v2 ? cgroup->v2_fd : cgroup->pids_fd, "pids.max", limits->processes))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot set the process limit");
	return 0;
}

int cgroup_make(struct cgroup *ret, const struct cgroup_root *root, const char *name, struct assay_error *err)
{
	start_group(ret, root, name);
	struct folders folders = folders_of(ret, root);
	for (size_t i = 0; i < COUNT_OF(folders.fds); i++) {
		if (folders.roots[i] < 0)
			continue;
		if (mkdirat(folders.roots[i], ret->name, 0755) == 0)
			*folders.fds[i] = openat(folders.roots[i], ret->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*folders.fds[i] < 0) {
			int status = error_set(err, ASSAY_SYSTEM, errno, "cannot make the cgroup '%s'", ret->name);
			cgroup_remove(ret);
			return status;
		}
	}
	return 0;
}

int cgroup_find(struct cgroup *ret, const struct cgroup_root *root, const char *name)
{
	bool is_found = false;
	start_group(ret, root, name);
	struct folders folders = folders_of(ret, root);
	for (size_t i = 0; i < COUNT_OF(folders.fds); i++) {
		if (folders.roots[i] >= 0)
			*folders.fds[i] = openat(folders.roots[i], ret->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		is_found |= *folders.fds[i] >= 0;
	}
	return is_found ? 0 : -1;
}

int cgroup_enter(const struct cgroup *cgroup)
{
	const int fds[] = {cgroup->v2_fd, cgroup->memory_fd, cgroup->pids_fd, cgroup->cpu_fd};
	for (size_t i = 0; i < COUNT_OF(fds); i++)
		if (fds[i] >= 0 && cgroup_write(fds[i], "cgroup.procs", "0"))
			return -1;
	return 0;
}

int64_t cgroup_cpu_ns(const struct cgroup *cgroup)
{
	uint64_t value;
	if (cgroup->v2_fd >= 0)
		return (int64_t)cgroup_read_keyed(cgroup->v2_fd, "cpu.stat", "usage_usec") * 1000;
	return cgroup->cpu_fd >= 0 && cgroup_read_number(cgroup->cpu_fd, "cpuacct.usage", &value) ? (int64_t)value : -1;
}

static uint64_t oom_kills(const struct cgroup *cgroup)
{
	return cgroup->v2_fd >= 0 ? cgroup_read_keyed(cgroup->v2_fd, "memory.events", "oom_kill")
	                          : cgroup_read_keyed(cgroup->memory_fd, "memory.oom_control", "oom_kill");
}

static uint64_t process_denied(const struct cgroup *cgroup)
{
	return cgroup_read_keyed(cgroup->v2_fd >= 0 ? cgroup->v2_fd : cgroup->pids_fd, "pids.events", "max");
}

bool cgroup_has_oom_kill(const struct cgroup *cgroup)
{
	char drain[512];
	if (cgroup->v2_fd >= 0) {
		ssize_t n = pread(cgroup->oom_event_fd, drain, sizeof(drain), 0);
		(void)n;
		return oom_kills(cgroup) > 0;
	}
	/*
	 * v1 signals the event before it chooses whom to kill, and once only: who looks at once and goes back to poll
	 * would miss the kill. An event without a kill (of the parent's limit, or memory was found after all) costs the
	 * whole wait.
	 */
	bool has_event = read(cgroup->oom_event_fd, drain, sizeof(drain)) > 0;
	for (int64_t deadline_ns = clock_now_ns() + OOM_WAIT_NS; oom_kills(cgroup) == 0; clock_sleep_ns(ROUND_NS))
		if (!has_event || clock_now_ns() > deadline_ns)
			return false;
	return true;
}

void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *ret)
{
	bool is_v2 = cgroup->v2_fd >= 0;
	*ret = (struct cgroup_usage){.cpu_ns = cgroup_cpu_ns(cgroup), .oom_kills = oom_kills(cgroup)};
	if (is_v2 ? cgroup->root->has_memory : cgroup->memory_fd >= 0)
		ret->has_memory_peak =
		    cgroup_read_number(is_v2 ? cgroup->v2_fd : cgroup->memory_fd,
		                       is_v2 ? "memory.peak" : "memory.max_usage_in_bytes", &ret->memory_peak_bytes);
	ret->process_denied = cgroup->has_ended ? cgroup->process_denied_before_end : process_denied(cgroup);
}

/* -- the end of a group -- */

static void stop_forks(struct cgroup *cgroup)
{
	const int fds[] = {cgroup->v2_fd, cgroup->memory_fd, cgroup->pids_fd, cgroup->cpu_fd};
	if (!cgroup->has_ended)
		cgroup->process_denied_before_end = process_denied(cgroup);
	cgroup->has_ended = true;
	for (size_t i = 0; i < COUNT_OF(fds); i++)
		if (fds[i] >= 0)
			cgroup_stop_forks(fds[i]);
}

static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		;
}

int cgroup_kill(struct cgroup *cgroup, int64_t deadline_ns)
{
	const int fds[] = {cgroup->v2_fd, cgroup->memory_fd, cgroup->pids_fd, cgroup->cpu_fd};
	int first = -1;
	reap();
	for (;;) {
		int alive = 0;
		for (size_t i = 0; i < COUNT_OF(fds); i++)
			if (fds[i] >= 0)
				alive = MAX(alive, cgroup_signal(fds[i], first < 0 ? 0 : SIGKILL));
		if (first < 0) { /* a first look, to count; then nobody may fork on */
			first = alive;
			if (alive > 0) {
				stop_forks(cgroup);
				continue;
			}
		}
		if (alive == 0)
			return first;
		if (clock_now_ns() > deadline_ns)
			return -1;
		clock_sleep_ns(ROUND_NS);
		reap();
	}
}

void cgroup_remove(struct cgroup *cgroup)
{
	struct folders folders = folders_of(cgroup, cgroup->root);
	if (cgroup->oom_event_fd >= 0)
		close(cgroup->oom_event_fd);
	cgroup->oom_event_fd = -1;
	for (size_t i = 0; i < COUNT_OF(folders.fds); i++)
		cgroup_remove_folder(folders.roots[i], folders.fds[i], cgroup->name);
}
