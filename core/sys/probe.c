/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/probe.h"
#include "base/str.h"
#include "sys/cgroup.h"
#include "sys/child.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
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

/* Exit code of `attempt` in a child with further clone3 flags: what it does there stays there. -1: no such child. */
static int attempt_in_child(uint64_t flags, int (*attempt)(const void *arg), const void *arg)
{
	int pidfd = -1;
	struct child_exit ended = {.code = -1};
	pid_t pid = child_clone(flags, -1, &pidfd);
	if (pid == 0)
		_exit(attempt(arg));
	if (pid < 0)
		return -1;
	bool is_whole = child_wait(pidfd, &ended) == 0 && !ended.is_signalled;
	close(pidfd);
	return is_whole ? ended.code : -1;
}

static int do_nothing(const void *arg)
{
	(void)arg;
	return 0;
}

static void probe_kernel(const struct probe *probe)
{
	static const char *const lost =
	    "Assay cannot start a program: it needs Linux 5.9 or newer (Debian 11 or newer) "
	    "and no seccomp filter that hides the call";
	struct utsname name;
	uname(&name);
	tell(probe, "kernel", true, name.release, "", false);
	bool has_clone = attempt_in_child(0, do_nothing, NULL) == 0;
	tell(probe, "clone3 and pidfd", has_clone, has_clone ? "work" : "refused", lost, true);
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));
	tell(probe, "openat2", fd >= 0, fd >= 0 ? "works" : "refused", lost, true);
	if (fd >= 0)
		close(fd);
	bool has_close_range = close_range(~0U, ~0U, 0) == 0;
	tell(probe, "close_range", has_close_range, has_close_range ? "works" : "refused", lost, true);
}

static void probe_proc(const struct probe *probe)
{
	bool is_there = access("/proc/self/fd", R_OK) == 0;
	tell(probe, "proc", is_there, is_there ? "mounted" : "not mounted",
	     "processes cannot be found and killed: mount it (mount -t proc proc /proc)", true);
}

static void probe_cgroup(const struct probe *probe)
{
	char name[24];
	struct cgroup_root root;
	snprintf(name, sizeof(name), "%d", getpid());
	cgroup_root_open(&root, name);
	const char *version = root.version == CGROUP_V2 ? "v2" : root.version == CGROUP_V1 ? "v1" : "none";
	const struct {
		const char *name, *lost;
		bool is_there;
	} controllers[] = {
	    {"cgroup memory", "memory is limited a process, not a run", root.has_memory},
	    {"cgroup pids", "processes are not counted a run", root.has_pids},
	    {"cgroup cpu", "CPU time is that of processes seen, not a run's", root.has_cpu},
	};
	for (size_t i = 0; i < COUNT_OF(controllers); i++) {
		char missing[240];
		snprintf(missing, sizeof(missing), "%s; %s", controllers[i].lost, root.reason);
		tell(probe, controllers[i].name, controllers[i].is_there, controllers[i].is_there ? version : "none",
		     missing, false);
	}
	cgroup_root_close(&root);
}

struct overlay_attempt {
	const char *folder;
	uid_t uid; /* outside; the child is root inside */
	gid_t gid;
};

static bool write_file(const char *path, const char *text)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* A mount namespace of its own, with an overlay in it whose folders are in a tmpfs. */
static int mount_overlay(const void *arg)
{
	const struct overlay_attempt *attempt = arg;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("probe", attempt->folder, "tmpfs", 0, "mode=0700") || chdir(attempt->folder) ||
	    mkdir("lower", 0700) || mkdir("upper", 0700) || mkdir("work", 0700) || mkdir("all", 0700))
		return 1;
	return mount("probe", "all", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work") ? 1 : 0;
}

static int mount_overlay_as_user(const void *arg)
{
	const struct overlay_attempt *attempt = arg;
	char uids[32], gids[32];
	snprintf(uids, sizeof(uids), "0 %u 1", attempt->uid);
	snprintf(gids, sizeof(gids), "0 %u 1", attempt->gid);
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", uids) ||
	    !write_file("/proc/self/gid_map", gids))
		return 1;
	return mount_overlay(arg);
}

static void probe_namespaces(const struct probe *probe, const char *folder)
{
	bool has_user = attempt_in_child(CLONE_NEWUSER, do_nothing, NULL) == 0;
	tell(probe, "user namespaces", has_user, has_user ? "work" : "refused",
	     "no isolation without root: sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces=10000; "
	     "in a "
	     "container, its seccomp profile must allow them",
	     false);
	const struct overlay_attempt attempt = {.folder = folder, .uid = geteuid(), .gid = getegid()};
	bool has_overlay = attempt_in_child(CLONE_NEWNS, mount_overlay, &attempt) == 0 ||
	                   attempt_in_child(CLONE_NEWNS | CLONE_NEWUSER, mount_overlay_as_user, &attempt) == 0;
	tell(probe, "overlay", has_overlay, has_overlay ? "works" : "refused",
	     "no changes on top of a read-only root: modprobe overlay; without root, Linux 5.11 and user namespaces",
	     false);
}

/* An empty file is no program, but the kernel says so only after it has allowed to run it. */
static int run_empty(const void *path)
{
	char *const argv[] = {(char *)path, NULL}, *const env[] = {NULL};
	execve(path, argv, env);
	return errno == ENOEXEC ? 0 : 1;
}

static bool may_exec_in(const char *folder)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/assay-probe-XXXXXX", folder);
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return false;
	bool is_executable = fchmod(fd, 0700) == 0;
	close(fd); /* what is open for writing cannot be run */
	bool may_run = is_executable && attempt_in_child(0, run_empty, path) == 0;
	unlink(path);
	return may_run;
}

static void probe_temp(const struct probe *probe, const char *folder)
{
	struct statvfs space = {0};
	char value[sizeof(((struct probe_row *)0)->value)];
	bool is_there = statvfs(folder, &space) == 0;
	snprintf(value, sizeof(value), is_there ? "%.80s, %llu MiB free" : "%.80s: not there", folder,
	         (unsigned long long)space.f_bavail * space.f_frsize >> 20);
	tell(probe, "temporary files", is_there && may_exec_in(folder), value,
	     "programs have no place to be built and run: set TMPDIR to a folder that can be written to, on a file "
	     "system "
	     "that is not mounted noexec",
	     true);
}

static void probe_resources(const struct probe *probe)
{
	char value[64];
	struct rlimit limit = {0};
	cpu_set_t cpus;
	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)limit.rlim_max);
	tell(probe, "open files", limit.rlim_max >= 1024, value,
	     "about ten a box are needed: raise the hard limit (ulimit -Hn) or run few boxes at a time (--jobs)",
	     false);
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
	double quota = cgroup_cpu_quota();
	snprintf(value, sizeof(value), quota > 0 ? "%d, of which a cgroup grants %.2f" : "%d", count, quota);
	tell(probe, "processors", true, value, "", false);
}

void probe_host(const char *temp_folder, void (*row)(void *arg, const struct probe_row *row), void *arg)
{
	const struct probe probe = {.row = row, .arg = arg};
	probe_kernel(&probe);
	probe_proc(&probe);
	probe_cgroup(&probe);
	probe_namespaces(&probe, temp_folder);
	probe_temp(&probe, temp_folder);
	probe_resources(&probe);
}
