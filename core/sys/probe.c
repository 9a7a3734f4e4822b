/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/probe.h"
#include "base/quantity.h"
#include "sys/cgroup.h"
#include "sys/child.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

struct probe {
	void (*row)(void *arg, const struct probe_row *row);
	void *arg;
};

static void tell(const struct probe *probe, const char *name, bool is_there, const char *value, const char *missing,
                 bool is_fatal)
{
	struct probe_row row = {.is_fatal = is_fatal && !is_there};
	snprintf(row.name, sizeof(row.name), "%s", name);
	snprintf(row.value, sizeof(row.value), "%s", value);
	snprintf(row.missing, sizeof(row.missing), "%s", is_there ? "" : missing);
	probe->row(probe->arg, &row);
}

static void probe_kernel(const struct probe *probe)
{
	struct utsname name;
	uname(&name);
	int pidfd = -1;
	pid_t pid = child_clone(0, -1, &pidfd);
	if (pid == 0)
		_exit(0);
	struct child_exit ended;
	bool has_clone = pid > 0 && child_wait(pidfd, &ended) == 0;
	if (pidfd >= 0)
		close(pidfd);
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));
	if (fd >= 0)
		close(fd);
	bool has_close_range = close_range(~0U, ~0U, 0) == 0;
	tell(probe, "kernel", has_clone && fd >= 0 && has_close_range, name.release,
	     "clone3, pidfds, openat2 and close_range are needed: Linux 5.9 or newer, and no seccomp filter that hides "
	     "them",
	     true);
}

static void probe_proc(const struct probe *probe)
{
	bool is_there = access("/proc/self/fd", R_OK) == 0;
	tell(probe, "proc", is_there, is_there ? "mounted" : "not mounted", "mount it: mount -t proc proc /proc", true);
}

static void probe_cgroup(const struct probe *probe)
{
	char name[24], value[64];
	struct cgroup_root root;
	snprintf(name, sizeof(name), "%d", getpid());
	cgroup_root_open(&root, name);
	const char *version = root.version == CGROUP_V2 ? "v2" : root.version == CGROUP_V1 ? "v1" : "none";
	snprintf(value, sizeof(value), "%s:%s%s%s", version, root.has_memory ? " memory" : "",
	         root.has_pids ? " pids" : "", root.has_cpu ? " cpu" : "");
	bool is_whole = root.has_memory && root.has_pids && root.has_cpu;
	char missing[240];
	snprintf(missing, sizeof(missing), "limits fall back to rlimits a process; %s", root.reason);
	tell(probe, "cgroup", is_whole, value, missing, false);
	cgroup_root_close(&root, name);
}

static void probe_temp(const struct probe *probe, const char *folder)
{
	struct statvfs space = {0};
	bool is_writable = access(folder, W_OK | X_OK) == 0 && statvfs(folder, &space) == 0;
	bool may_exec = !(space.f_flag & ST_NOEXEC);
	auto_buffer struct buffer value = {0};
	buffer_printf(&value, "%s, %llu MiB free", folder, (unsigned long long)space.f_bavail * space.f_frsize >> 20);
	tell(probe, "temporary files", is_writable && may_exec, value.data,
	     "set TMPDIR to a folder that can be written to and whose file system is not mounted noexec", true);
}

static void probe_resources(const struct probe *probe)
{
	char value[64];
	struct rlimit limit;
	cpu_set_t cpus;
	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)limit.rlim_max);
	tell(probe, "open files", limit.rlim_max >= 1024, value,
	     "about ten a box are needed: raise the hard limit (ulimit -Hn) or run few boxes at a time (--jobs)",
	     false);
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
	snprintf(value, sizeof(value), "%d", count);
	tell(probe, "processors", true, value, "", false);
}

void probe_host(const char *temp_folder, void (*row)(void *arg, const struct probe_row *row), void *arg)
{
	const struct probe probe = {.row = row, .arg = arg};
	probe_kernel(&probe);
	probe_proc(&probe);
	probe_cgroup(&probe);
	probe_temp(&probe, temp_folder);
	probe_resources(&probe);
}
