/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/buffer.h"
#include <stdio.h>

static enum log_level limit = LOG_NOTICE;

void log_set_level(enum log_level level)
{
	limit = level;
}

static void append_escaped(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
			buffer_printf(out, "\\x%02x", c);
		else
			buffer_append_char(out, *text);
	}
}

void log_line_v(enum log_level level, const char *format, va_list args)
{
	static const char *const words[] = {"assay: error: ", "assay: warning: ", "assay: ", "assay: debug: "};
	if (level > limit)
		return;
	char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		return;
	auto_buffer struct buffer line = {0};
	buffer_append(&line, words[level], strlen(words[level]));
	append_escaped(&line, text);
	buffer_append_char(&line, '\n');
	free(text);
	ssize_t n = write(STDERR_FILENO, line.data, line.len);
	(void)n; /* nowhere left to complain */
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_line_v(level, format, args);
	va_end(args);
}
