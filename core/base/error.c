/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include <stdio.h>

/* vsnprintf that cuts between characters. */
static void print_into(char *text, size_t size, const char *format, va_list args) ASSAY_PRINTF(3, 0);

static void print_into(char *text, size_t size, const char *format, va_list args)
{
	int len = vsnprintf(text, size, format, args);
	if (len >= (int)size)
		text[utf8_cut(text, size - 1, size - 1)] = 0;
}

static void clear(struct assay_error *err, int status, int sys_errno)
{
	memset(err, 0, offsetof(struct assay_error, message) + 1);
	err->status = status;
	err->sys_errno = sys_errno;
}

int error_set_v(struct assay_error *err, int status, int sys_errno, const char *format, va_list args)
{
	if (err) {
		char message[sizeof(err->message)]; /* the arguments may point into *err */
		print_into(message, sizeof(message), format, args);
		clear(err, status, sys_errno);
		memcpy(err->message, message, strlen(message) + 1);
	}
	return status;
}

int error_set(struct assay_error *err, int status, int sys_errno, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	error_set_v(err, status, sys_errno, format, args);
	va_end(args);
	return status;
}

/* A long name keeps its tail, which tells more than its head. */
static void set_place(struct assay_error *err, const char *file, uint32_t line, uint32_t column)
{
	err->line = line;
	err->column = column;
	if (!file)
		return;
	size_t len = strlen(file);
	if (len < sizeof(err->file))
		memcpy(err->file, file, len + 1);
	else
		snprintf(err->file, sizeof(err->file), "...%s", file + len - (sizeof(err->file) - 4));
}

int error_at_v(struct assay_error *err, const char *file, uint32_t line, uint32_t column, const char *format,
               va_list args)
{
	if (err) {
		error_set_v(err, ASSAY_INVALID, 0, format, args);
		set_place(err, file, line, column);
	}
	return ASSAY_INVALID;
}

int error_at(struct assay_error *err, const char *file, uint32_t line, uint32_t column, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	error_at_v(err, file, line, column, format, args);
	va_end(args);
	return ASSAY_INVALID;
}

int error_wrap(struct assay_error *err, const char *format, ...)
{
	if (!err)
		return ASSAY_INTERNAL;
	char message[sizeof(err->message)];
	va_list args;
	va_start(args, format);
	print_into(message, sizeof(message), format, args);
	va_end(args);
	size_t len = strlen(message);
	int more = snprintf(message + len, sizeof(message) - len, ": %s", err->message);
	if (more >= (int)(sizeof(message) - len))
		message[utf8_cut(message, sizeof(message) - 1, sizeof(message) - 1)] = 0;
	memcpy(err->message, message, strlen(message) + 1);
	return err->status;
}

char *error_format(const struct assay_error *err, char *text, size_t size)
{
	char place[sizeof(err->file) + 32] = "";
	if (err->file[0] && err->line && err->column)
		snprintf(place, sizeof(place), "%s:%u:%u: ", err->file, err->line, err->column);
	else if (err->file[0] && err->line)
		snprintf(place, sizeof(place), "%s:%u: ", err->file, err->line);
	else if (err->file[0])
		snprintf(place, sizeof(place), "%s: ", err->file);
	if (err->sys_errno)
		snprintf(text, size, "%s%s: %s", place, err->message, strerrordesc_np(err->sys_errno));
	else
		snprintf(text, size, "%s%s", place, err->message);
	return text;
}

const char *error_status_name(int status)
{
	switch (status) {
	case ASSAY_OK:
		return "ok";
	case ASSAY_INVALID:
		return "invalid";
	case ASSAY_MISSING:
		return "missing";
	case ASSAY_SYSTEM:
		return "system";
	case ASSAY_LIMIT:
		return "limit";
	default:
		return "internal";
	}
}
