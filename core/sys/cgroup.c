/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v1 keeps one hierarchy a controller, v2 one for all. Both are plain files below folders, so what differs is kept in
 * small tables and the rest is common.
 *
 * Where the folders of ours go: below the cgroup this process is in. Under v2 a group with processes in it cannot hand
 * controllers to its children; where ours cannot, its parent is tried, and a group that is ours alone (a delegated
 * scope) is emptied by moving this process into a leaf.
 */
#include "sys/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/str.h"
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FOLDER   "assay-"
#define ROUND_NS INT64_C(200000)

/* -- small files ----------------------------------------------------------------------------------------------------
 */

static int write_file(int folder, const char *name, const char *text)
{
	auto_close int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	return fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -1;
}

static int write_number(int folder, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return write_file(folder, name, text);
}

/* The whole of a small file, NUL-terminated; false when it cannot be read. */
static bool read_text(int folder, const char *name, char *text, size_t size)
{
	auto_close int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
	text[MAX(n, 0)] = 0;
	return n >= 0;
}

static bool read_number(int folder, const char *name, uint64_t *ret)
{
	char text[64];
	int64_t value;
	if (!read_text(folder, name, text, sizeof(text)) || !parse_int64(str_trim(str_of(text)), &value) || value < 0)
		return false;
	*ret = (uint64_t)value;
	return true;
}

/* The number behind `key` in a file of "key number" lines; 0 when there is none. */
static uint64_t read_keyed(int folder, const char *name, const char *key)
{
	char text[2048];
	struct assay_str rest, line, word;
	if (folder < 0 || !read_text(folder, name, text, sizeof(text)))
		return 0;
	for (rest = str_of(text); str_cut(&rest, '\n', &line);) {
		int64_t value;
		if (str_next_word(&line, &word) && str_is(word, key) && parse_int64(str_trim(line), &value) &&
		    value >= 0)
			return (uint64_t)value;
	}
	return 0;
}

/* -- where the hierarchies are --------------------------------------------------------------------------------------
 */

struct hierarchy {
	char path[PATH_MAX]; /* of this process's own group, absolute; "" when there is none */
};

/* This process's group in the hierarchy with `controller` ("" is v2), from a line "id:controllers:path". */
static bool own_group(const char *controller, char *path, size_t size)
{
	char text[4096];
	struct assay_str rest, line;
	if (!read_text(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)))
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
	if (root_len && strncmp(group, root, root_len) == 0)
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

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* -- the root -------------------------------------------------------------------------------------------------------
 */

static int open_v1(const char *controller, const char *name)
{
	struct hierarchy hierarchy;
	if (!find_hierarchy(controller, &hierarchy))
		return -1;
	auto_close int own = open_folder(hierarchy.path);
	return own < 0 ? -1 : make_folder(own, name);
}

static bool lists_word(int folder, const char *file, const char *word)
{
	char text[512];
	struct assay_str rest, found;
	if (!read_text(folder, file, text, sizeof(text)))
		return false;
	for (rest = str_of(text); str_next_word(&rest, &found);)
		if (str_is(found, word))
			return true;
	return false;
}

static void enable_controllers(int folder)
{
	/* One at a time: a refused one must not take the others along. */
	static const char *const wishes[] = {"+memory", "+pids", "+cpu"};
	for (size_t i = 0; i < COUNT_OF(wishes); i++)
		write_file(folder, "cgroup.subtree_control", wishes[i]);
}

/* Moves this process out of the way, so that its group may hand controllers on. */
static void move_into_leaf(int folder)
{
	auto_close int leaf = make_folder(folder, "assay-front");
	if (leaf >= 0)
		write_number(leaf, "cgroup.procs", (uint64_t)getpid());
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
	auto_close int own_fd = open_folder(own.path);
	if (own_fd < 0)
		return -1;
	if (!lists_word(own_fd, "cgroup.controllers", "memory"))
		return -1;
	enable_controllers(own_fd);
	if (!lists_word(own_fd, "cgroup.subtree_control", "memory")) {
		auto_close int parent_fd = openat(own_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
	root->has_swap_limit = root->has_memory;
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
	close(*fd);
	*fd = -1;
	if (parent >= 0)
		unlinkat(parent, folder, AT_REMOVEDIR);
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

/* -- one run's group ------------------------------------------------------------------------------------------------
 */

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
	snprintf(cgroup->name, sizeof(cgroup->name), "%s", name);
}

static int limit_memory_v1(const struct cgroup *cgroup, uint64_t bytes)
{
	/* Memory first: memory + swap must never be below it. */
	if (write_number(cgroup->memory_fd, "memory.limit_in_bytes", bytes))
		return -1;
	return cgroup->root->has_swap_limit ? write_number(cgroup->memory_fd, "memory.memsw.limit_in_bytes", bytes) : 0;
}

static int limit_memory_v2(const struct cgroup *cgroup, uint64_t bytes)
{
	write_file(cgroup->v2_fd, "memory.swap.max", "0"); /* absent on a host without swap */
	write_file(cgroup->v2_fd, "memory.oom.group", "1");
	return write_number(cgroup->v2_fd, "memory.max", bytes);
}

/* What was asked for is what is in force, rounded down to pages. */
static int check_memory(const struct cgroup *cgroup, uint64_t bytes, struct assay_error *err)
{
	bool is_v2 = cgroup->root->version == CGROUP_V2;
	uint64_t in_force;
	if (!read_number(is_v2 ? cgroup->v2_fd : cgroup->memory_fd, is_v2 ? "memory.max" : "memory.limit_in_bytes",
	                 &in_force) ||
	    in_force > bytes)
		return error_set(err, ASSAY_SYSTEM, 0, "the kernel did not take the memory limit");
	return 0;
}

static void watch_oom(struct cgroup *cgroup)
{
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
	if (control < 0 || write_file(cgroup->memory_fd, "cgroup.event_control", text)) {
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
	    write_number(is_v2 ? cgroup->v2_fd : cgroup->pids_fd, "pids.max", limits->processes))
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
		if (mkdirat(folders.roots[i], name, 0755) == 0)
			*folders.fds[i] = openat(folders.roots[i], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*folders.fds[i] < 0) {
			int status = error_set(err, ASSAY_SYSTEM, errno, "cannot make the cgroup '%s'", name);
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
			*folders.fds[i] = openat(folders.roots[i], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		is_found |= *folders.fds[i] >= 0;
	}
	return is_found ? 0 : -1;
}

int cgroup_enter(const struct cgroup *cgroup)
{
	const int fds[] = {cgroup->v2_fd, cgroup->memory_fd, cgroup->pids_fd, cgroup->cpu_fd};
	for (size_t i = 0; i < COUNT_OF(fds); i++)
		if (fds[i] >= 0 && write_file(fds[i], "cgroup.procs", "0"))
			return -1;
	return 0;
}

int64_t cgroup_cpu_ns(const struct cgroup *cgroup)
{
	uint64_t value;
	if (cgroup->v2_fd >= 0)
		return (int64_t)read_keyed(cgroup->v2_fd, "cpu.stat", "usage_usec") * 1000;
	return cgroup->cpu_fd >= 0 && read_number(cgroup->cpu_fd, "cpuacct.usage", &value) ? (int64_t)value : -1;
}

static uint64_t oom_kills(const struct cgroup *cgroup)
{
	return cgroup->v2_fd >= 0 ? read_keyed(cgroup->v2_fd, "memory.events", "oom_kill")
	                          : read_keyed(cgroup->memory_fd, "memory.oom_control", "oom_kill");
}

bool cgroup_has_oom_kill(const struct cgroup *cgroup)
{
	char drain[512];
	ssize_t n = pread(cgroup->oom_event_fd, drain, sizeof(drain), 0);
	if (n < 0) /* an eventfd does not take an offset */
		n = read(cgroup->oom_event_fd, drain, sizeof(drain));
	(void)n;
	return oom_kills(cgroup) > 0;
}

void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *ret)
{
	bool is_v2 = cgroup->v2_fd >= 0;
	*ret = (struct cgroup_usage){.cpu_ns = cgroup_cpu_ns(cgroup), .oom_kills = oom_kills(cgroup)};
	if (is_v2 ? cgroup->root->has_memory : cgroup->memory_fd >= 0)
		ret->has_memory_peak =
		    read_number(is_v2 ? cgroup->v2_fd : cgroup->memory_fd,
		                is_v2 ? "memory.peak" : "memory.max_usage_in_bytes", &ret->memory_peak_bytes);
	ret->process_denied = read_keyed(is_v2 ? cgroup->v2_fd : cgroup->pids_fd, "pids.events", "max");
}

/* -- the end of a group ---------------------------------------------------------------------------------------------
 */

/* Signals every process listed; returns how many that were. */
static int kill_listed(int folder, int number)
{
	char text[1 << 14];
	int count = 0;
	if (!read_text(folder, "cgroup.procs", text, sizeof(text)))
		return 0;
	struct assay_str rest = str_of(text), line;
	while (str_cut(&rest, '\n', &line)) {
		int64_t pid;
		/* 0 stands for a process that is not visible from here. */
		if (!parse_int64(line, &pid) || pid <= 1 || pid == getpid())
			continue;
		kill((pid_t)pid, number);
		count++;
	}
	return count;
}

static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		;
}

int cgroup_kill(const struct cgroup *cgroup, int64_t deadline_ns)
{
	const int fds[] = {cgroup->v2_fd, cgroup->memory_fd, cgroup->pids_fd, cgroup->cpu_fd};
	int first = -1;
	reap();
	for (;;) {
		int alive = 0;
		for (size_t i = 0; i < COUNT_OF(fds); i++)
			if (fds[i] >= 0)
				alive = MAX(alive, kill_listed(fds[i], first < 0 ? 0 : SIGKILL));
		if (first < 0) { /* a first look, to count; then nobody may fork on */
			first = alive;
			if (alive > 0 && cgroup->pids_fd >= 0)
				write_number(cgroup->pids_fd, "pids.max", 0);
			if (alive > 0 && cgroup->v2_fd >= 0)
				write_file(cgroup->v2_fd, "cgroup.kill", "1");
			if (alive > 0)
				continue;
		}
		if (alive == 0)
			return first;
		if (clock_now_ns() > deadline_ns)
			return -1;
		clock_sleep_ns(ROUND_NS);
		reap();
	}
}

static void remove_folder(int parent, int *fd, const char *name)
{
	if (*fd >= 0)
		close(*fd);
	if (parent < 0 || *fd < 0)
		return;
	*fd = -1;
	for (int attempt = 0; unlinkat(parent, name, AT_REMOVEDIR) && errno == EBUSY && attempt < 2000; attempt++)
		clock_sleep_ns(1000000);
}

void cgroup_remove(struct cgroup *cgroup)
{
	struct folders folders = folders_of(cgroup, cgroup->root);
	if (cgroup->oom_event_fd >= 0)
		close(cgroup->oom_event_fd);
	cgroup->oom_event_fd = -1;
	for (size_t i = 0; i < COUNT_OF(folders.fds); i++)
		remove_folder(folders.roots[i], folders.fds[i], cgroup->name);
}

/* -- what crashes left ----------------------------------------------------------------------------------------------
 */

/* Kills and removes the groups in a folder of ours, then the folder. */
static bool sweep_folder(int parent, const char *name)
{
	auto_close int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_closedir DIR *dir = folder < 0 ? NULL : fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		int group = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (int round = 0; round < 100 && group >= 0 && kill_listed(group, SIGKILL) > 0; round++)
			clock_sleep_ns(ROUND_NS);
		remove_folder(folder, &group, entry->d_name);
	}
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
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
	static const char *const controllers[] = {"", "memory", "pids", "cpuacct"};
	int swept = 0;
	for (size_t i = 0; i < COUNT_OF(controllers); i++) {
		struct hierarchy own;
		if (!find_hierarchy(controllers[i], &own))
			continue;
		auto_close int own_fd = open_folder(own.path);
		swept += sweep_parent(own_fd);
		if (*controllers[i] || own_fd < 0)
			continue;
		auto_close int parent_fd = openat(own_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		swept += sweep_parent(parent_fd);
	}
	return swept;
}
