/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error idiom: a fallible function takes `struct assay_error *err` last and returns 0 or a negative
 * enum assay_status. *err is untouched on success; err may be NULL. Nothing here allocates, so all of it may be used
 * when memory is short and between clone and exec.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/defs.h"
#include <stdarg.h>

/* Each returns the status it stores. */
int error_set(struct assay_error *err, int status, int sys_errno, const char *format, ...) ASSAY_PRINTF(4, 5);
int error_set_v(struct assay_error *err, int status, int sys_errno, const char *format, va_list args)
    ASSAY_PRINTF(4, 0);
/* ASSAY_INVALID with a place; file may be NULL, line and column 0. A long file name keeps its tail. */
int error_at(struct assay_error *err, const char *file, uint32_t line, uint32_t column, const char *format, ...)
    ASSAY_PRINTF(5, 6);
int error_at_v(struct assay_error *err, const char *file, uint32_t line, uint32_t column, const char *format,
               va_list args) ASSAY_PRINTF(5, 0);
/* Puts "context: " before the message as the error climbs; returns err's status (ASSAY_INTERNAL when err is NULL). */
int error_wrap(struct assay_error *err, const char *format, ...) ASSAY_PRINTF(2, 3);
/* "file:line:column: message: strerror", always NUL-terminated; returns `text`. */
char *error_format(const struct assay_error *err, char *text, size_t size);
#define ERROR_TEXT_MAX 640
/* "invalid", "missing", "system", "limit", "internal". */
const char *error_status_name(int status);

#endif
