/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits and accounting of a whole process tree, on cgroup v2 or v1 behind one interface. Sources: the kernel's
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/{memory,pids,cpuacct}.rst.
 *
 * A `cgroup_root` is found once: where groups of ours can be made (v2: the nearest place that hands on controllers; v1:
 * one per controller hierarchy). Each controller may be missing by itself. A `cgroup` is one run's; it is made, filled
 * by one process before it execs, read, killed and removed by the box's keeper, on one thread. Groups lie side by side,
 * not in a folder of ours: a folder can only be removed when the kernel has done with all that were in it, which it
 * takes its time over, one after the other.
 */
#ifndef SYS_CGROUP_H
#define SYS_CGROUP_H

#include "base/defs.h"

enum cgroup_version { CGROUP_NONE = 0, CGROUP_V1 = 1, CGROUP_V2 = 2 };

/* Plain data: may be copied, and its descriptors passed on by fork. */
struct cgroup_root {
	enum cgroup_version version;
	bool has_memory, has_pids, has_cpu; /* cpu: accounting of CPU time */
	bool has_swap_limit;                /* v1: memory.memsw.*; v2: memory.swap.max */
	int v2_fd;                          /* -1 unless v2 */
	int memory_fd, pids_fd, cpu_fd;     /* of v1, -1 where missing */
	char prefix[32];                    /* "assay-<name>": what the names of our groups begin with */
	char reason[200];                   /* why something is missing, for people; "" when all is there */
};

/*
 * Finds the place and enables the controllers there. Never fails: what cannot be had is missing and `reason` says why
 * and how to get it. `name` is the pid of the process whose life that of the groups is bound to.
 */
void cgroup_root_open(struct cgroup_root *ret, const char *name);
void cgroup_root_close(struct cgroup_root *root); /* closes the descriptors; groups stay */
/* Kills all in groups "assay-<pid>-..." whose process <pid> is gone, and removes them; returns how many. */
int cgroup_root_sweep(void);
/* How many processors the cgroup this process is in may use at a time; 0: no limit of its own. */
double cgroup_cpu_quota(void);

struct cgroup {
	const struct cgroup_root *root;
	char name[64];
	int v2_fd, memory_fd, pids_fd, cpu_fd; /* this run's folders; -1 where missing */
	bool has_ended; /* cgroup_kill() has forbidden forks: those it refuses are not the limit's */
	uint64_t process_denied_before_end;
	int oom_event_fd; /* v1: eventfd of memory.oom_control; v2: memory.events (poll for POLLPRI); -1 */
};

struct cgroup_limits {
	uint64_t memory_bytes; /* 0: none; swap is set to 0 where it can be */
	uint64_t processes;    /* 0: none; processes and threads */
};

struct cgroup_usage {
	int64_t cpu_ns;             /* -1 unknown */
	uint64_t memory_peak_bytes; /* 0 unknown */
	bool has_memory_peak;
	uint64_t oom_kills;      /* processes of the group that the kernel killed for want of memory */
	uint64_t process_denied; /* forks refused by the process limit */
};

int cgroup_make(struct cgroup *ret, const struct cgroup_root *root, const char *name, struct assay_error *err);
/* The write order of memory and memory+swap limits matters; the memory limit is read back and compared. */
int cgroup_limit(struct cgroup *cgroup, const struct cgroup_limits *limits, struct assay_error *err);
/* Opens a group that another process has made; -1 when it is not there. */
int cgroup_find(struct cgroup *ret, const struct cgroup_root *root, const char *name);
/* Moves the calling process in. Only system calls: for use between clone and exec. 0, or -1 with errno. */
int cgroup_enter(const struct cgroup *cgroup);
void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *ret);
int64_t cgroup_cpu_ns(const struct cgroup *cgroup); /* -1 unknown */
/* True when the kernel has killed for memory. Call when oom_event_fd polls ready: v1 may take some milliseconds then.
 */
bool cgroup_has_oom_kill(const struct cgroup *cgroup);
/*
 * Kills everything in the group and returns when it is empty of living processes or `deadline_ns` (monotonic) has
 * passed: v2 cgroup.kill; v1 no more forks (pids.max 0), then SIGKILL to all that is listed, until nothing is.
 * Returns how many processes were seen alive at first, or -1 when some remain. Reaps every child of the caller that has
 * ended, so the caller has waited before for those whose status it wants; as a child subreaper it reaps orphans too.
 */
int cgroup_kill(struct cgroup *cgroup, int64_t deadline_ns);
/* Removes the group's folders (retrying while the kernel still counts dying processes) and closes its descriptors. */
void cgroup_remove(struct cgroup *cgroup);

#endif
