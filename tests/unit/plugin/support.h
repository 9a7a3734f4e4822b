/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder to put plugins in, and where the build left its modules. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include <limits.h>
#include <stdio.h>

struct folder {
	struct arena *arena;
	char path[64]; /* absolute */
	int fd;
};

static inline int folder_open(void **state)
{
	struct folder *folder = xmalloc(sizeof(*folder));
	folder->arena = arena_new();
	strcpy(folder->path, "/tmp/assay-plugin-test-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	folder->fd = dir_open(folder->path, NULL);
	assert_true(folder->fd >= 0);
	*state = folder;
	return 0;
}

static inline int folder_close(void **state)
{
	struct folder *folder = *state;
	auto_close int temp = dir_open("/tmp", NULL);
	assert_int_equal(tree_remove(temp, folder->path + strlen("/tmp/"), NULL), 0);
	close(folder->fd);
	arena_free(folder->arena);
	free(folder);
	return 0;
}

/* Writes a file anew and returns its absolute path. */
static inline const char *folder_write(struct folder *folder, const char *path, struct assay_str content)
{
	const char *absolute = arena_printf(folder->arena, "%s/%s", folder->path, path).ptr;
	unlink(absolute);
	assert_int_equal(file_write_beneath(folder->fd, str_of(path), content, 0644, NULL), 0);
	return absolute;
}

static inline const char *folder_path(struct folder *folder, const char *path)
{
	return arena_printf(folder->arena, "%s/%s", folder->path, path).ptr;
}

/* A path of the build tree, whose folder `tests` holds this program. */
static inline const char *build_path(struct arena *arena, const char *path)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	assert_true(n > 0);
	program[n] = 0;
	for (int up = 0; up < 2; up++)
		*strrchr(program, '/') = 0;
	return arena_printf(arena, "%s/%s", program, path).ptr;
}

#define assert_holds(text, part)                                                                                       \
	do {                                                                                                           \
		if (!strstr((text), (part)))                                                                           \
			fail_msg("\"%s\" does not hold \"%s\"", (text), (part));                                       \
	} while (0)

#define test_in_folder(test) cmocka_unit_test_setup_teardown(test, folder_open, folder_close)

#endif
