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

/* Whether groups can be made in a folder; whether one has the file `feature` (NULL: not asked). */
static bool can_make_groups(int folder, const struct cgroup_root *root, const char *feature, bool *ret_has_feature)
{
	char path[96];
	snprintf(path, sizeof(path), "%s-try", root->prefix);
	if (folder < 0 || (mkdirat(folder, path, 0755) && errno != EEXIST))
		return false;
	if (feature) {
		auto_close int group = openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*ret_has_feature = group >= 0 && faccessat(group, feature, F_OK, 0) == 0;
	}
	return unlinkat(folder, path, AT_REMOVEDIR) == 0;
}

static int open_v1(const char *controller, const struct cgroup_root *root)
{
	struct hierarchy hierarchy;
	if (!find_hierarchy(controller, &hierarchy))
		return -1;
	auto_close int own = open_folder(AT_FDCWD, hierarchy.path);
	return can_make_groups(own, root, NULL, NULL) ? steal_fd(&own) : -1;
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

/* True when groups made in the folder have a memory limit. */
static bool hands_on_memory(int folder)
{
	if (folder >= 0 && !lists_word(folder, "cgroup.subtree_control", "memory"))
		enable_controllers(folder);
	return folder >= 0 && lists_word(folder, "cgroup.subtree_control", "memory");
}

static int open_v2(const struct cgroup_root *root)
{
	struct hierarchy own;
	if (!find_hierarchy("", &own))
		return -1;
	auto_close int own_fd = open_folder(AT_FDCWD, own.path);
	if (own_fd < 0 || !lists_word(own_fd, "cgroup.controllers", "memory"))
		return -1;
	if (!hands_on_memory(own_fd)) {
		auto_close int parent_fd = open_folder(own_fd, "..");
		if (hands_on_memory(parent_fd) && can_make_groups(parent_fd, root, NULL, NULL))
			return steal_fd(&parent_fd);
		move_into_leaf(own_fd);
		enable_controllers(own_fd);
	}
	return can_make_groups(own_fd, root, NULL, NULL) ? steal_fd(&own_fd) : -1;
}

static bool try_v2(struct cgroup_root *root)
{
	root->v2_fd = open_v2(root);
	if (root->v2_fd < 0)
		return false;
	root->version = CGROUP_V2;
	root->has_memory = lists_word(root->v2_fd, "cgroup.subtree_control", "memory");
	root->has_pids = lists_word(root->v2_fd, "cgroup.subtree_control", "pids");
	root->has_cpu = true; /* cpu.stat counts time in every group */
	can_make_groups(root->v2_fd, root, "memory.swap.max", &root->has_swap_limit);
	return root->has_memory || root->has_pids;
}

static void try_v1(struct cgroup_root *root)
{
	root->memory_fd = open_v1("memory", root);
	root->pids_fd = open_v1("pids", root);
	root->cpu_fd = open_v1("cpuacct", root);
	root->has_memory = root->memory_fd >= 0;
	root->has_pids = root->pids_fd >= 0;
	root->has_cpu = root->cpu_fd >= 0;
	can_make_groups(root->memory_fd, root, "memory.memsw.limit_in_bytes", &root->has_swap_limit);
	if (root->has_memory || root->has_pids || root->has_cpu)
		root->version = CGROUP_V1;
}

void cgroup_root_open(struct cgroup_root *ret, const char *name)
{
	*ret = (struct cgroup_root){.v2_fd = -1, .memory_fd = -1, .pids_fd = -1, .cpu_fd = -1};
	snprintf(ret->prefix, sizeof(ret->prefix), FOLDER "%s", name);
	if (!try_v2(ret)) {
		cgroup_root_close(ret);
		try_v1(ret);
	}
	if (ret->has_memory && ret->has_pids && ret->has_cpu)
		return;
	snprintf(ret->reason, sizeof(ret->reason),
	         "no cgroup for%s%s%s: run as root, or as a user in a delegated scope "
	         "(systemd-run --user --scope -p Delegate=yes assay ...)",
	         ret->has_memory ? "" : " memory", ret->has_pids ? "" : " processes", ret->has_cpu ? "" : " CPU time");
}

void cgroup_root_close(struct cgroup_root *root)
{
	int *const fds[] = {&root->v2_fd, &root->memory_fd, &root->pids_fd, &root->cpu_fd};
	for (size_t i = 0; i < COUNT_OF(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	root->version = CGROUP_NONE;
	root->has_memory = root->has_pids = root->has_cpu = root->has_swap_limit = false;
}

/* -- the host's own limit -- */

/* "<quota> <period>" in microseconds, or "max <period>". */
static double read_cpu_max(int folder)
{
	char text[64];
	int64_t quota, period;
	struct assay_str rest, word;
	if (folder < 0 || !cgroup_read_text(folder, "cpu.max", text, sizeof(text)))
		return 0;
	rest = str_of(text);
	if (!str_next_word(&rest, &word) || !parse_int64(word, &quota) || !str_next_word(&rest, &word) ||
	    !parse_int64(word, &period) || period <= 0)
		return 0;
	return (double)quota / (double)period;
}

double cgroup_cpu_quota(void)
{
	struct hierarchy own;
	if (find_hierarchy("", &own)) {
		auto_close int folder = open_folder(AT_FDCWD, own.path);
		double quota = read_cpu_max(folder);
		if (quota > 0)
			return quota;
	}
	if (!find_hierarchy("cpu", &own))
		return 0;
	auto_close int folder = open_folder(AT_FDCWD, own.path);
	uint64_t quota_us, period_us; /* a quota of -1, none, is no number here */
	return folder >= 0 && cgroup_read_number(folder, "cpu.cfs_quota_us", &quota_us) &&
	               cgroup_read_number(folder, "cpu.cfs_period_us", &period_us) && period_us > 0
	           ? (double)quota_us / (double)period_us
	           : 0;
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
		struct assay_str name = str_of(entry->d_name), part;
		if (entry->d_type != DT_DIR || !str_starts_with(name, STR(FOLDER)))
			continue;
		name = str_slice(name, sizeof(FOLDER) - 1, name.len);
		if (!str_cut(&name, '-', &part) || !parse_int64(part, &pid) || pid <= 0)
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
