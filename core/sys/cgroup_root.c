/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the folders of ours go: below the cgroup this process is in. Under v2 a group with processes in it cannot hand
 * controllers to its children; where ours cannot, its parent is tried, and a group that is ours alone (a delegated
 * scope) is emptied by moving this process into a leaf.
 */
#include "base/clock.h"
#include "base/quantity.h"
#include "base/str.h"
#include "sys/cgroup.h"
#include "sys/cgroup_files.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define FOLDER   "assay-"
#define ROUND_NS INT64_C(200000)

/* -- where the hierarchies are -- */

struct hierarchy {
	char path[PATH_MAX]; /* of this process's own group, absolute; "" when there is none */
};

/* This process's group in the hierarchy with `controller` ("" is v2), from a line "id:controllers:path". */
static bool own_group(const char *controller, char *path, size_t size)
{
	char text[4096];
	struct assay_str rest, line;
	if (!cgroup_read_text(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)))
		return false;
	for (rest = str_of(text); str_cut(&rest, '\n', &line);) {
		struct assay_str id, list, name;
		if (!str_cut(&line, ':', &id) || !str_cut(&line, ':', &list))
			continue;
		bool is_it = list.len == 0 && !*controller;
		while (!is_it && str_cut(&list, ',', &name))
			is_it = *controller && str_is(name, controller);
		if (is_it) {
			snprintf(path, size, "%.*s", STR_ARG(line));
			return true;
		}
	}
	return false;
}

/* True when the comma-separated mount options name the controller. */
static bool has_option(struct assay_str options, const char *name)
{
	struct assay_str option;
	while (str_cut(&options, ',', &option))
		if (str_is(option, name))
			return true;
	return false;
}

/*
 * Where that hierarchy is mounted, from /proc/self/mountinfo (proc(5)):
 * "id parent major:minor root mountpoint options ... - type source super-options".
 */
static bool find_mount(const char *controller, char *root, char *point, size_t size)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *text = NULL;
	size_t room = 0;
	bool is_found = false;
	for (ssize_t n; !is_found && file && (n = getline(&text, &room, file)) > 0;) {
		struct assay_str line = str_trim((struct assay_str){text, (size_t)n}), words[5], type, source;
		ptrdiff_t dash = str_find(line, STR(" - "));
		if (dash < 0)
			continue;
		struct assay_str tail = str_slice(line, (size_t)dash + 3, line.len);
		for (size_t i = 0; i < COUNT_OF(words); i++)
			str_next_word(&line, &words[i]);
		str_next_word(&tail, &type);
		str_next_word(&tail, &source);
		is_found = *controller ? str_is(type, "cgroup") && has_option(str_trim(tail), controller)
		                       : str_is(type, "cgroup2");
		if (is_found) {
			snprintf(root, size, "%.*s", STR_ARG(words[3]));
			snprintf(point, size, "%.*s", STR_ARG(words[4]));
		}
	}
	free(text);
	if (file)
		fclose(file);
	return is_found;
}

static bool find_hierarchy(const char *controller, struct hierarchy *ret)
{
	char group[PATH_MAX / 2], root[PATH_MAX / 2], point[PATH_MAX / 2];
	ret->path[0] = 0;
	if (!own_group(controller, group, sizeof(group)) || !find_mount(controller, root, point, sizeof(root)))
		return false;
	/* The mount shows the tree from `root` on (a container's part of it). */
	const char *below = group;
	size_t root_len = strcmp(root, "/") ? strlen(root) : 0;
	if (root_len && strncmp(group, root, root_len) == 0 && (!group[root_len] || group[root_len] == '/'))
		below = group + root_len;
	else if (root_len)
		below = "";
	snprintf(ret->path, sizeof(ret->path), "%s%s", point, strcmp(below, "/") ? below : "");
	return true;
}

/* Makes a folder of ours in `parent`; its descriptor or -1 with errno. */
static int make_folder(int parent, const char *name)
{
	if (mkdirat(parent, name, 0755) && errno != EEXIST)
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/*
 * A folder of a hierarchy. A group outside our cgroup namespace reads as "/..", which leads out of the mount into an
 * ordinary file system, where a folder of ours could be made and would limit nothing.
 */
static int open_folder(int parent, const char *path)
{
	auto_close int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs system;
	if (fd < 0 || fstatfs(fd, &system))
		return -1;
	bool is_cgroup = system.f_type == CGROUP_SUPER_MAGIC || system.f_type == CGROUP2_SUPER_MAGIC;
	return is_cgroup ? steal_fd(&fd) : -1;
}

/* -- the root -- */

static int open_v1(const char *controller, const char *name)
{
	struct hierarchy hierarchy;
	if (!find_hierarchy(controller, &hierarchy))
		return -1;
	auto_close int own = open_folder(AT_FDCWD, hierarchy.path);
	return own < 0 ? -1 : make_folder(own, name);
}

static bool lists_word(int folder, const char *file, const char *word)
{
	char text[512];
	struct assay_str rest, found;
	if (!cgroup_read_text(folder, file, text, sizeof(text)))
		return false;
	for (rest = str_of(text); str_next_word(&rest, &found);)
		if (str_is(found, word))
			return true;
	return false;
}

/*
 * All that there are in one write, so all or none: "pids" alone can be enabled in a group with processes in it, which
 * makes it a threaded domain, and then nothing can be moved into its children any more.
 */
static void enable_controllers(int folder)
{
	static const char *const wishes[] = {"memory", "pids", "cpu"};
	char text[64] = "";
	for (size_t i = 0; i < COUNT_OF(wishes); i++) {
		if (!lists_word(folder, "cgroup.controllers", wishes[i]))
			continue;
		strcat(text, " +");
		strcat(text, wishes[i]);
	}
	if (*text)
		cgroup_write(folder, "cgroup.subtree_control", text + 1);
}

static void move_process(pid_t pid, void *leaf)
{
	cgroup_write_number(*(int *)leaf, "cgroup.procs", (uint64_t)pid);
}

/*
 * Moves everything in a group of ours out of the way, into a leaf, so that the group may hand controllers on. What else
 * is in it (the front, the shell that started us) has been delegated along with it.
 */
static void move_into_leaf(int folder)
{
	auto_close int leaf = make_folder(folder, "assay-front");
	for (int round = 0; leaf >= 0 && round < 10; round++) /* again for what was forked meanwhile */
		cgroup_visit_processes(folder, move_process, &leaf);
}

static int make_v2_folder(int parent, const char *name)
{
	if (!lists_word(parent, "cgroup.subtree_control", "memory"))
		enable_controllers(parent);
	int folder = make_folder(parent, name);
	if (folder >= 0)
		enable_controllers(folder);
	return folder;
}

static int open_v2(const char *name)
{
	struct hierarchy own;
	if (!find_hierarchy("", &own))
		return -1;
	auto_close int own_fd = open_folder(AT_FDCWD, own.path);
	if (own_fd < 0)
		return -1;
	if (!lists_word(own_fd, "cgroup.controllers", "memory"))
		return -1;
	enable_controllers(own_fd);
	if (!lists_word(own_fd, "cgroup.subtree_control", "memory")) {
		auto_close int parent_fd = open_folder(own_fd, "..");
		int folder = parent_fd < 0 ? -1 : make_v2_folder(parent_fd, name);
		if (folder >= 0 && lists_word(folder, "cgroup.controllers", "memory"))
			return folder;
		if (folder >= 0) {
			close(folder);
			unlinkat(parent_fd, name, AT_REMOVEDIR);
		}
		move_into_leaf(own_fd);
	}
	return make_v2_folder(own_fd, name);
}

static bool try_v2(struct cgroup_root *root, const char *folder)
{
	root->v2_fd = open_v2(folder);
	if (root->v2_fd < 0)
		return false;
	root->version = CGROUP_V2;
	root->has_memory = lists_word(root->v2_fd, "cgroup.subtree_control", "memory");
	root->has_pids = lists_word(root->v2_fd, "cgroup.subtree_control", "pids");
	root->has_cpu = true; /* cpu.stat counts time in every group */
	root->has_swap_limit = root->has_memory && faccessat(root->v2_fd, "memory.swap.max", F_OK, 0) == 0;
	return root->has_memory || root->has_pids;
}

static void try_v1(struct cgroup_root *root, const char *folder)
{
	root->memory_fd = open_v1("memory", folder);
	root->pids_fd = open_v1("pids", folder);
	root->cpu_fd = open_v1("cpuacct", folder);
	root->has_memory = root->memory_fd >= 0;
	root->has_pids = root->pids_fd >= 0;
	root->has_cpu = root->cpu_fd >= 0;
	root->has_swap_limit =
	    root->has_memory && faccessat(root->memory_fd, "memory.memsw.limit_in_bytes", F_OK, 0) == 0;
	if (root->has_memory || root->has_pids || root->has_cpu)
		root->version = CGROUP_V1;
}

void cgroup_root_open(struct cgroup_root *ret, const char *name)
{
	char folder[64];
	*ret = (struct cgroup_root){.v2_fd = -1, .memory_fd = -1, .pids_fd = -1, .cpu_fd = -1};
	snprintf(folder, sizeof(folder), FOLDER "%s", name);
	if (!try_v2(ret, folder)) {
		if (ret->v2_fd >= 0)
			cgroup_root_close(ret, name);
		try_v1(ret, folder);
	}
	if (ret->has_memory && ret->has_pids && ret->has_cpu)
		return;
	snprintf(ret->reason, sizeof(ret->reason),
	         "no cgroup for%s%s%s: run as root, or as a user in a delegated scope "
	         "(systemd-run --user --scope -p Delegate=yes assay ...)",
	         ret->has_memory ? "" : " memory", ret->has_pids ? "" : " processes", ret->has_cpu ? "" : " CPU time");
}

static void close_folder(int *fd, const char *folder)
{
	if (*fd < 0)
		return;
	auto_close int parent = openat(*fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cgroup_remove_folder(parent, fd, folder); /* the kernel takes its time over the last run's group */
}

void cgroup_root_close(struct cgroup_root *root, const char *name)
{
	char folder[64];
	snprintf(folder, sizeof(folder), FOLDER "%s", name);
	close_folder(&root->v2_fd, folder);
	close_folder(&root->memory_fd, folder);
	close_folder(&root->pids_fd, folder);
	close_folder(&root->cpu_fd, folder);
	root->version = CGROUP_NONE;
	root->has_memory = root->has_pids = root->has_cpu = false;
}

/* -- what crashes left -- */

/* Kills and removes the groups in a folder of ours, then the folder. */
static bool sweep_folder(int parent, const char *name)
{
	int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	cgroup_stop_forks(folder);
	for (int round = 0; round < 100 && cgroup_signal(folder, SIGKILL) > 0; round++)
		clock_sleep_ns(ROUND_NS);
	cgroup_remove_folder(parent, &folder, name);
	return faccessat(parent, name, F_OK, 0) != 0;
}

static int sweep_parent(int parent)
{
	int swept = 0;
	int copy = parent < 0 ? -1 : openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_closedir DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		int64_t pid;
		struct assay_str name = str_of(entry->d_name);
		if (entry->d_type != DT_DIR || !str_starts_with(name, STR(FOLDER)) ||
		    !parse_int64(str_slice(name, sizeof(FOLDER) - 1, name.len), &pid) || pid <= 0)
			continue;
		if (kill((pid_t)pid, 0) && errno == ESRCH && sweep_folder(parent, entry->d_name))
			swept++;
	}
	return swept;
}

int cgroup_root_sweep(void)
{
	/* pids first: without forks the others are soon empty. */
	static const char *const controllers[] = {"", "pids", "memory", "cpuacct"};
	int swept = 0;
	for (size_t i = 0; i < COUNT_OF(controllers); i++) {
		struct hierarchy own;
		if (!find_hierarchy(controllers[i], &own))
			continue;
		auto_close int own_fd = open_folder(AT_FDCWD, own.path);
		swept += sweep_parent(own_fd);
		if (*controllers[i] || own_fd < 0)
			continue;
		auto_close int parent_fd = open_folder(own_fd, "..");
		swept += sweep_parent(parent_fd);
	}
	return swept;
}
