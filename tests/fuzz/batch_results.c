/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going on with a result file of any content: either it is refused and stays byte for byte what it was, or it consists
 * of whole results afterwards, takes another, and is read back with one more than before.
 */
#include "base/error.h"
#include "base/str.h"
#include "batch/results.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *arg, const struct result_line *line)
{
	(void)line;
	++*(size_t *)arg;
}

static void check_unchanged(int fd, const uint8_t *data, size_t size)
{
	const char *now = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : "";
	if (lseek(fd, 0, SEEK_END) != (off_t)size || now == MAP_FAILED || memcmp(now, data, size))
		abort();
	if (size)
		munmap((void *)(uintptr_t)now, size);
}

static void check_resumed(struct results *results, const char *path, size_t there)
{
	size_t again = 0;
	auto_json struct json_object *line = json_map();
	json_add_str(line, "id", STR("one more"));
	json_add_int(line, "sample", 0);
	json_add_str(line, "outcome", STR("no_code"));
	if (results_count(results) > there || results_write(results, line, NULL))
		abort();
	if (results_read(path, count, &again, NULL) || again != there + 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("results", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	char path[32];
	struct results *results = NULL;
	size_t there = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (results_open(path, true, count, &there, &results, NULL) == 0)
		check_resumed(results, path, there);
	else
		check_unchanged(fd, data, size);
	results_close(results);
	close(fd);
	return 0;
}
