/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buffer.h"

/* Length of the longest valid prefix; equals len when all is valid. */
size_t utf8_valid_prefix(const char *bytes, size_t len);
/*
 * Appends the bytes with each maximal invalid part replaced by U+FFFD (Unicode 15, section 3.9, "substitution of
 * maximal subparts"). True when anything was replaced.
 */
bool utf8_append_clean(struct buffer *out, const char *bytes, size_t len);
/* The largest length <= limit at which `bytes` can be cut without splitting a character. */
size_t utf8_cut(const char *bytes, size_t len, size_t limit);

#endif
