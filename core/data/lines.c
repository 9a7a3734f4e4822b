/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three ways to fill one block of plain bytes (read, inflate, zstd), and one way to cut lines out of it. Nothing seeks,
 * so pipes work as well as files.
 */
#include "data/lines.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#define BLOCK           ((size_t)128 << 10)
#define ZSTD_WINDOW_LOG 27 /* 128 MiB, what `zstd --long` writes */

enum format { PLAIN, GZIP, ZSTD };

struct lines {
	char *path;
	int fd;
	uint64_t size, taken;
	enum format format;
	z_stream gzip;
	ZSTD_DStream *zstd;
	bool is_inside; /* of a compressed member that has not ended */
	bool is_input_over;
	char input[BLOCK];
	size_t input_at, input_len;
	char block[BLOCK];
	size_t block_at, block_len;
	struct buffer line;
	uint32_t number;
	uint64_t line_at; /* bytes consumed before the line */
};

static int read_input(struct lines *lines, struct assay_error *err)
{
	ssize_t n;
	do
		n = read(lines->fd, lines->input + lines->input_len, BLOCK - lines->input_len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", lines->path);
	lines->is_input_over = n == 0;
	lines->input_len += (size_t)n;
	lines->taken += (uint64_t)n;
	return 0;
}

/* Looks at the first bytes and sets up the decoder. */
static int detect(struct lines *lines, struct assay_error *err)
{
	while (lines->input_len < 4 && !lines->is_input_over) {
		int status = read_input(lines, err);
		if (status)
			return status;
	}
	const char *head = lines->input;
	if (lines->input_len >= 2 && !memcmp(head, "\x1F\x8B", 2)) {
		lines->format = GZIP;
		if (inflateInit2(&lines->gzip, 15 + 16) != Z_OK)
			return error_set(err, ASSAY_INTERNAL, 0, "zlib cannot be set up");
	} else if (lines->input_len >= 4 && !memcmp(head, "\x28\xB5\x2F\xFD", 4)) {
		lines->format = ZSTD;
		lines->zstd = ZSTD_createDStream();
		if (!lines->zstd ||
		    ZSTD_isError(ZSTD_DCtx_setParameter(lines->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
			return error_set(err, ASSAY_INTERNAL, 0, "zstd cannot be set up");
	}
	return 0;
}

int lines_open(const char *path, struct lines **ret, struct assay_error *err)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return error_set(err, ASSAY_INVALID, errno, "cannot read '%s'", path);
	struct lines *lines = xmalloc(sizeof(*lines));
	lines->fd = fd;
	lines->path = xstrdup(is_stdin ? "standard input" : path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		lines->size = (uint64_t)st.st_size;
	int status = detect(lines, err);
	if (status) {
		lines_close(lines);
		return status;
	}
	*ret = lines;
	return 0;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	if (lines->format == GZIP)
		inflateEnd(&lines->gzip);
	ZSTD_freeDStream(lines->zstd);
	buffer_free(&lines->line);
	close(lines->fd);
	free(lines->path);
	free(lines);
}

static int damaged(const struct lines *lines, const char *why, struct assay_error *err)
{
	return error_at(err, lines->path, 0, 0, "the compressed data is damaged after line %u: %s", lines->number, why);
}

static int inflate_some(struct lines *lines, struct assay_error *err)
{
	z_stream *gzip = &lines->gzip;
	if (!lines->is_inside)
		inflateReset(gzip);
	gzip->next_in = (Bytef *)lines->input + lines->input_at;
	gzip->avail_in = (uInt)(lines->input_len - lines->input_at);
	gzip->next_out = (Bytef *)lines->block;
	gzip->avail_out = BLOCK;
	int result = inflate(gzip, Z_NO_FLUSH);
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		return damaged(lines, gzip->msg ? gzip->msg : "not gzip", err);
	lines->is_inside = result != Z_STREAM_END;
	lines->input_at = lines->input_len - gzip->avail_in;
	lines->block_len = BLOCK - gzip->avail_out;
	return 0;
}

static int decompress_some(struct lines *lines, struct assay_error *err)
{
	ZSTD_inBuffer in = {lines->input, lines->input_len, lines->input_at};
	ZSTD_outBuffer out = {lines->block, BLOCK, 0};
	size_t hint = ZSTD_decompressStream(lines->zstd, &out, &in);
	if (ZSTD_isError(hint))
		return damaged(lines, ZSTD_getErrorName(hint), err);
	lines->is_inside = hint != 0;
	lines->input_at = in.pos;
	lines->block_len = out.pos;
	return 0;
}

/* Fills the block; leaves it empty at the end. */
static int fill_block(struct lines *lines, struct assay_error *err)
{
	lines->block_at = lines->block_len = 0;
	for (;;) {
		bool has_input = lines->input_at < lines->input_len;
		if (!has_input) {
			lines->input_at = lines->input_len = 0;
			int status = lines->is_input_over ? 0 : read_input(lines, err);
			if (status)
				return status;
			has_input = lines->input_len > 0;
		}
		if (lines->format == PLAIN) {
			memcpy(lines->block, lines->input + lines->input_at, lines->input_len - lines->input_at);
			lines->block_len = lines->input_len - lines->input_at;
			lines->input_at = lines->input_len;
			return 0;
		}
		if (!has_input && !lines->is_inside)
			return 0;
		int status = lines->format == GZIP ? inflate_some(lines, err) : decompress_some(lines, err);
		if (status || lines->block_len > 0)
			return status;
		if (!has_input)
			return damaged(lines, "it ends in the middle", err);
	}
}

static int finish_line(struct lines *lines, struct assay_str *ret_line, uint32_t *ret_number)
{
	if (lines->line.len > 0 && lines->line.data[lines->line.len - 1] == '\r')
		lines->line.data[--lines->line.len] = 0;
	*ret_line = buffer_str(&lines->line);
	*ret_number = ++lines->number;
	if (lines->number == 1 && str_starts_with(*ret_line, STR("\xEF\xBB\xBF"))) {
		*ret_line = str_slice(*ret_line, 3, ret_line->len);
		lines->line_at += 3;
	}
	return 1;
}

static uint64_t consumed(const struct lines *lines)
{
	uint64_t waiting = lines->input_len - lines->input_at;
	if (lines->format == PLAIN)
		waiting += lines->block_len - lines->block_at;
	return lines->taken - waiting;
}

int lines_next(struct lines *lines, struct assay_str *ret_line, uint32_t *ret_number, struct assay_error *err)
{
	buffer_clear(&lines->line);
	lines->line_at = consumed(lines);
	bool has_part = false;
	for (;;) {
		if (lines->block_at == lines->block_len) {
			int status = fill_block(lines, err);
			if (status)
				return status;
			if (lines->block_len == 0)
				return has_part ? finish_line(lines, ret_line, ret_number) : 0;
		}
		const char *begin = lines->block + lines->block_at;
		size_t room = lines->block_len - lines->block_at;
		const char *end = memchr(begin, '\n', room);
		size_t len = end ? (size_t)(end - begin) : room;
		if (lines->line.len + len > LINES_MAX_BYTES)
			return error_at(err, lines->path, lines->number + 1, 0, "the line is longer than 256 MiB");
		buffer_append(&lines->line, begin, len);
		lines->block_at += len + (end != NULL);
		has_part = true;
		if (end)
			return finish_line(lines, ret_line, ret_number);
	}
}

int64_t lines_offset(const struct lines *lines)
{
	return lines->format == PLAIN && lines->size > 0 ? (int64_t)lines->line_at : -1;
}

void lines_progress(const struct lines *lines, uint64_t *ret_done, uint64_t *ret_size)
{
	*ret_done = consumed(lines);
	*ret_size = lines->size;
}
