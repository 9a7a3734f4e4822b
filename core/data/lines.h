/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a text file, plain, gzip or zstd (told by its first bytes, not its name), read as a stream: memory is
 * that of the longest line, at most LINES_MAX_BYTES.
 */
#ifndef DATA_LINES_H
#define DATA_LINES_H

#include "base/buffer.h"

#define LINES_MAX_BYTES ((size_t)256 << 20)

struct lines;

int lines_open(const char *path, struct lines **ret, struct assay_error *err); /* "-" is standard input */
void lines_close(struct lines *lines);                                         /* accepts NULL */
/*
 * 1 and a line without its end ("\n" or "\r\n"), valid until the next call; 0 at the end; negative on error (damaged
 * or cut compressed data included). *ret_number is 1-based. A last line without an end is a line. A UTF-8 byte order
 * mark at the start of the file is dropped.
 */
int lines_next(struct lines *lines, struct assay_str *ret_line, uint32_t *ret_number, struct assay_error *err);
/* Where the line just returned begins in the file; -1 when the file is compressed or no regular file. */
int64_t lines_offset(const struct lines *lines);
/* Bytes of the file consumed so far and its size (0 when not a regular file): for progress. */
void lines_progress(const struct lines *lines, uint64_t *ret_done, uint64_t *ret_size);

#endif
