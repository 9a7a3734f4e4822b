/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes, compressed or not, give lines or an error, and end. */
#include "data/lines.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct lines *lines;
	struct assay_str line;
	uint32_t number;
	size_t total = 0;
	int fd = memfd_create("lines", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (lines_open(path, &lines, NULL) == 0) {
		/* A small input may inflate to much; a few megabytes of it are enough. */
		while (total < 4000000 && lines_next(lines, &line, &number, NULL) > 0)
			total += line.len + 1;
		lines_close(lines);
	}
	close(fd);
	return 0;
}
