/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on standard error, each written whole. Floors below the command line log at debug only: who stops an error's
 * way up reports it, once. Control bytes in the text are escaped, for parts of it may come from a hostile program.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/defs.h"
#include <stdarg.h>

enum log_level { LOG_ERROR = 0, LOG_WARNING = 1, LOG_NOTICE = 2, LOG_DEBUG = 3 };

void log_set_level(enum log_level level); /* start-up only; LOG_NOTICE at first */
void log_line(enum log_level level, const char *format, ...) ASSAY_PRINTF(2, 3);
void log_line_v(enum log_level level, const char *format, va_list args) ASSAY_PRINTF(2, 0);

#endif
