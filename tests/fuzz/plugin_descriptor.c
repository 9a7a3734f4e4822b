/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.yaml, whatever it holds: a descriptor whose defaults are sound options, or an error with a reason. */
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include "plugin/descriptor.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Named as the descriptors of the corpus are; gone when the process ends. */
static char folder[] = "/tmp/assay-fuzz-XXXXXX/lang";

static void remove_folder(void)
{
	folder[strlen(folder) - strlen("/lang")] = 0;
	tree_remove(-1, folder, NULL);
}

static int open_folder(void)
{
	static int fd = -1;
	if (fd >= 0)
		return fd;
	char *end = strrchr(folder, '/');
	*end = 0;
	if (!mkdtemp(folder))
		abort();
	auto_close int parent = dir_open(folder, NULL);
	fd = dir_make(parent, "lang", 0755, NULL);
	*end = '/';
	atexit(remove_folder);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = open_folder();
	auto_arena struct arena *arena = arena_new();
	struct descriptor descriptor;
	struct assay_error err = {0};
	unlinkat(fd, DESCRIPTOR_FILE, 0);
	if (file_write_beneath(fd, STR(DESCRIPTOR_FILE), (struct assay_str){(const char *)data, size}, 0644, &err))
		abort();
	int status = descriptor_read(arena, folder, &descriptor, &err);
	if (status) {
		if (err.status != status || !err.message[0])
			abort();
		return 0;
	}
	const struct assay_node *options, *again;
	if (!str_is(descriptor.name, "lang") || descriptor_options(arena, &descriptor, NULL, &options, NULL))
		abort();
	/* What was typed once is of its type. */
	if (node_count(options) != node_count(descriptor.options) ||
	    descriptor_options(arena, &descriptor, options, &again, NULL))
		abort();
	return 0;
}
