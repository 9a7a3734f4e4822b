/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/cgroup_files.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/str.h"
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#define REMOVE_NS    (2 * NS_PER_S)
#define SLEEP_MIN_NS (100 * NS_PER_US)
#define SLEEP_MAX_NS (5 * NS_PER_MS)

int cgroup_write(int folder, const char *name, const char *text)
{
	auto_close int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	return fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -1;
}

int cgroup_write_number(int folder, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return cgroup_write(folder, name, text);
}

bool cgroup_read_text(int folder, const char *name, char *text, size_t size)
{
	auto_close int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
	text[MAX(n, 0)] = 0;
	return n >= 0;
}

bool cgroup_read_number(int folder, const char *name, uint64_t *ret)
{
	char text[64];
	int64_t value;
	if (!cgroup_read_text(folder, name, text, sizeof(text)) || !parse_int64(str_trim(str_of(text)), &value) ||
	    value < 0)
		return false;
	*ret = (uint64_t)value;
	return true;
}

uint64_t cgroup_read_keyed(int folder, const char *name, const char *key)
{
	char text[2048];
	struct assay_str rest, line, word;
	if (folder < 0 || !cgroup_read_text(folder, name, text, sizeof(text)))
		return 0;
	for (rest = str_of(text); str_cut(&rest, '\n', &line);) {
		int64_t value;
		if (str_next_word(&line, &word) && str_is(word, key) && parse_int64(str_trim(line), &value) &&
		    value >= 0)
			return (uint64_t)value;
	}
	return 0;
}

void cgroup_visit_processes(int folder, void (*visit)(pid_t pid, void *arg), void *arg)
{
	auto_close int fd = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char text[4096];
	int64_t pid = 0;
	/* The kernel gives about a page a read, and a number counts only when its line has ended. */
	for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof(text))) > 0;) {
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid > 0) /* 0 stands for a process that is not visible from here */
				visit((pid_t)pid, arg);
			pid = 0;
		}
	}
}

/* Calls `visit` for every group directly within; what it returns is summed up. */
static int visit_groups(int folder, int (*visit)(int folder, const char *name, int arg), int arg)
{
	struct stat status;
	int sum = 0;
	/* Two links are the folder's own; more are groups in it, which only a program with the right to could make. */
	if (fstat(folder, &status) || status.st_nlink <= 2)
		return 0;
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_closedir DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			sum += visit(folder, entry->d_name, arg);
	return sum;
}

struct signaller {
	int number, count;
};

static void signal_process(pid_t pid, void *arg)
{
	struct signaller *signaller = arg;
	if (pid == 1 || pid == getpid())
		return;
	kill(pid, signaller->number);
	signaller->count++;
}

static int signal_group(int parent, const char *name, int number)
{
	auto_close int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? 0 : cgroup_signal(folder, number);
}

int cgroup_signal(int folder, int number)
{
	struct signaller signaller = {.number = number};
	cgroup_visit_processes(folder, signal_process, &signaller);
	return signaller.count + visit_groups(folder, signal_group, number);
}

void cgroup_stop_forks(int folder)
{
	cgroup_write_number(folder, "pids.max", 0);
	cgroup_write(folder, "cgroup.kill", "1");
}

static int remove_group(int parent, const char *name, int unused)
{
	auto_close int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)unused;
	if (folder >= 0)
		visit_groups(folder, remove_group, 0);
	return unlinkat(parent, name, AT_REMOVEDIR) ? 1 : 0;
}

void cgroup_remove_folder(int parent, int *fd, const char *name)
{
	if (*fd >= 0)
		close(*fd);
	if (parent < 0 || *fd < 0)
		return;
	*fd = -1;
	int64_t sleep_ns = SLEEP_MIN_NS;
	for (int64_t deadline_ns = clock_now_ns() + REMOVE_NS;
	     unlinkat(parent, name, AT_REMOVEDIR) && errno == EBUSY;) {
		remove_group(parent, name, 0);
		if (clock_now_ns() > deadline_ns)
			return; /* left for the next sweep */
		clock_sleep_ns(sleep_ns);
		sleep_ns = MIN(2 * sleep_ns, SLEEP_MAX_NS);
	}
}
