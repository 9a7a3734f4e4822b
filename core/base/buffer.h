/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing run of bytes. Invariant: data is NULL and capacity 0, or data[len] == 0 with len < capacity, so data is a
 * C string whenever it holds no NUL of its own. Zero-initialise to start.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "base/defs.h"

struct buffer {
	char *data;
	size_t len;
	size_t capacity;
};

void buffer_append(struct buffer *buffer, const void *bytes, size_t len);
void buffer_append_str(struct buffer *buffer, struct assay_str text);
void buffer_append_char(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...) ASSAY_PRINTF(2, 3);
/* Room for `extra` more bytes after len; returns where they begin. Add what was filled to len yourself. */
char *buffer_reserve(struct buffer *buffer, size_t extra);
void buffer_clear(struct buffer *buffer); /* keeps the memory */
void buffer_free(struct buffer *buffer);  /* back to the zero state */
static inline struct assay_str buffer_str(const struct buffer *buffer)
{
	return (struct assay_str){buffer->data, buffer->len};
}
#define auto_buffer __attribute__((cleanup(buffer_free)))

#endif
