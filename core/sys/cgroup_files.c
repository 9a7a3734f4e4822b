/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/cgroup_files.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/str.h"
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

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

int cgroup_signal(int folder, int number)
{
	char text[1 << 14];
	int count = 0;
	if (!cgroup_read_text(folder, "cgroup.procs", text, sizeof(text)))
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

void cgroup_remove_folder(int parent, int *fd, const char *name)
{
	if (*fd >= 0)
		close(*fd);
	if (parent < 0 || *fd < 0)
		return;
	*fd = -1;
	for (int attempt = 0; unlinkat(parent, name, AT_REMOVEDIR) && errno == EBUSY && attempt < 2000; attempt++)
		clock_sleep_ns(1000000);
}
