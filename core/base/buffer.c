/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"
#include "base/arena.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

char *buffer_reserve(struct buffer *buffer, size_t extra)
{
	size_t needed;
	if (__builtin_add_overflow(buffer->len, extra, &needed) || __builtin_add_overflow(needed, 1, &needed))
		needed = SIZE_MAX;
	if (needed > buffer->capacity) {
		buffer->capacity = MAX(needed, MAX(buffer->capacity + buffer->capacity / 2, (size_t)64));
		buffer->data = xrealloc(buffer->data, buffer->capacity);
		buffer->data[buffer->len] = 0;
	}
	return buffer->data + buffer->len;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t len)
{
	char *end = buffer_reserve(buffer, len);
	if (len)
		memcpy(end, bytes, len);
	end[len] = 0;
	buffer->len += len;
}

void buffer_append_str(struct buffer *buffer, struct assay_str text)
{
	buffer_append(buffer, text.ptr, text.len);
}

void buffer_append_char(struct buffer *buffer, char c)
{
	buffer_append(buffer, &c, 1);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len > 0) {
		vsnprintf(buffer_reserve(buffer, (size_t)len), (size_t)len + 1, format, args);
		buffer->len += (size_t)len;
	}
	va_end(args);
}

void buffer_clear(struct buffer *buffer)
{
	buffer->len = 0;
	if (buffer->data)
		buffer->data[0] = 0;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}
