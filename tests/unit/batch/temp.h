/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder for one test program, and files in it: plain, gzip, zstd. */
#ifndef TESTS_UNIT_BATCH_TEMP_H
#define TESTS_UNIT_BATCH_TEMP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/files.h"
#include "base/str.h"

static char temp_folder[] = "/tmp/assay-test-XXXXXX";

static inline int temp_make(void **state)
{
	(void)state;
	return mkdtemp(temp_folder) ? 0 : -1;
}

static inline int temp_remove(void **state)
{
	(void)state;
	return tree_remove(AT_FDCWD, temp_folder, NULL);
}

static inline const char *temp_path(struct arena *arena, const char *name)
{
	return arena_printf(arena, "%s/%s", temp_folder, name).ptr;
}

static inline const char *temp_write(struct arena *arena, const char *name, struct assay_str bytes)
{
	const char *path = temp_path(arena, name);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	if (bytes.len)
		assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
	assert_int_equal(fclose(file), 0);
	return path;
}

static inline const char *temp_write_gzip(struct arena *arena, const char *name, struct assay_str bytes)
{
	const char *path = temp_path(arena, name);
	gzFile file = gzopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, bytes.ptr, (unsigned)bytes.len), (int)bytes.len);
	assert_int_equal(gzclose(file), Z_OK);
	return path;
}

static inline const char *temp_write_zstd(struct arena *arena, const char *name, struct assay_str bytes)
{
	size_t room = ZSTD_compressBound(bytes.len);
	char *packed = arena_alloc(arena, room);
	size_t len = ZSTD_compress(packed, room, bytes.ptr, bytes.len, 3);
	assert_false(ZSTD_isError(len));
	return temp_write(arena, name, (struct assay_str){packed, len});
}

static inline struct assay_str temp_read(struct arena *arena, const char *path)
{
	auto_buffer struct buffer text = {0};
	assert_int_equal(file_read(path, (size_t)64 << 20, &text, NULL), 0);
	return arena_copy(arena, buffer_str(&text));
}

#endif
