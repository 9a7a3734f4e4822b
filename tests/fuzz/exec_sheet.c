/* SPDX-License-Identifier: Apache-2.0 */
/* The spawn sheet read by the privileged side: any bytes give a sheet that lies within them, or an error. */
#include "base/defs.h"
#include "exec/wire.h"
#include <stdint.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("sheet", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	struct spawn_sheet sheet;
	if (sheet_read(fd, &sheet, NULL) == 0) {
		size_t total = 0;
		for (char **item = sheet.argv; *item; item++)
			total += strlen(*item) + 1;
		for (char **item = sheet.env; *item; item++)
			total += strlen(*item) + 1;
		if (total > size || !sheet.argv[0])
			abort();
		free(sheet.argv);
	}
	close(fd);
	return 0;
}
