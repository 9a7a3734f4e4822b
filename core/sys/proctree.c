/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/proctree.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/str.h"
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#define ROUND_NS      INT64_C(200000)
#define PROCESSES_MAX 65536

struct pids {
	pid_t *list;
	size_t count, room;
};

static void add_pid(struct pids *pids, pid_t pid)
{
	if (pids->count == pids->room) {
		size_t room = 2 * pids->room + 64;
		pid_t *list = realloc(pids->list, room * sizeof(*list));
		if (!list)
			return; /* found in the next round */
		pids->list = list;
		pids->room = room;
	}
	pids->list[pids->count++] = pid;
}

/*
 * Field `number` (from 3 on) of /proc/<pid>/stat (proc(5)), counted behind the name, which may hold anything; -1 when
 * the process is gone.
 */
static int64_t stat_field(pid_t pid, int number)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	text[MAX(n, 0)] = 0;
	struct assay_str rest = str_of(strrchr(text, ')')), word = {0};
	int64_t value = -1;
	for (int field = 2; field <= number; field++)
		if (!str_next_word(&rest, &word))
			return -1;
	return parse_int64(word, &value) ? value : -1;
}

/* The pids in a "children" file: decimal, each followed by a blank. */
static void add_children_file(struct pids *pids, const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	pid_t pid = 0;
	for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof(text))) > 0;) {
		for (ssize_t i = 0; i < n; i++) {
			if (isdigit((unsigned char)text[i])) {
				pid = pid * 10 + (text[i] - '0');
			} else if (pid > 0) {
				add_pid(pids, pid);
				pid = 0;
			}
		}
	}
}

/* The children of all threads of a process (proc(5), CONFIG_PROC_CHILDREN). */
static void add_children(struct pids *pids, pid_t parent)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", parent);
	auto_closedir DIR *dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char children[128];
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(children, sizeof(children), "/proc/%d/task/%.20s/children", parent, entry->d_name);
		add_children_file(pids, children);
	}
}

/* The same for kernels without the "children" files: a look at every process there is. */
static void add_children_by_scan(struct pids *pids, pid_t parent)
{
	auto_closedir DIR *dir = opendir("/proc");
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && stat_field(pid, 4) == parent)
			add_pid(pids, pid);
	}
}

static void find_with(struct pids *pids, void (*add)(struct pids *, pid_t))
{
	pids->count = 0;
	add(pids, getpid());
	for (size_t i = 0; i < pids->count && pids->count < PROCESSES_MAX; i++)
		add(pids, pids->list[i]);
}

static void find_descendants(struct pids *pids)
{
	bool has_files = access("/proc/thread-self/children", R_OK) == 0;
	find_with(pids, has_files ? add_children : add_children_by_scan);
}

/*
 * False when the caller has no child left. /proc may miss a process that is being handed to another parent; the kernel
 * does not, and a subreaper without children has no descendants.
 */
static bool reap(void)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
		;
	return pid == 0;
}

int proctree_kill_descendants(int64_t deadline_ns)
{
	struct pids pids = {0};
	size_t killed = 0;
	bool is_left;
	while ((is_left = reap()) && clock_now_ns() <= deadline_ns) {
		find_descendants(&pids);
		killed = MAX(killed, pids.count);
		for (size_t i = 0; i < pids.count; i++) /* so that none can fork on while others are killed */
			kill(pids.list[i], SIGSTOP);
		for (size_t i = 0; i < pids.count; i++)
			kill(pids.list[i], SIGKILL);
		if (!reap())
			continue;
		clock_sleep_ns(ROUND_NS);
	}
	free(pids.list);
	return is_left ? -1 : (int)killed;
}

/* utime + stime. */
static int64_t cpu_of(pid_t pid)
{
	int64_t user = stat_field(pid, 14), system = stat_field(pid, 15);
	return user < 0 || system < 0 ? 0 : (user + system) * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

int64_t proctree_cpu_ns(void)
{
	struct pids pids = {0};
	int64_t total = 0;
	find_descendants(&pids);
	for (size_t i = 0; i < pids.count; i++)
		total += cpu_of(pids.list[i]);
	free(pids.list);
	return total;
}
