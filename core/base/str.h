/* SPDX-License-Identifier: Apache-2.0 */
/* Views of bytes (struct assay_str). Nothing here allocates; every result points into its argument. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/defs.h"

#define STR(literal) ((struct assay_str){(literal), sizeof(literal) - 1})
/* For "%.*s". */
#define STR_ARG(s) (int)(s).len, (s).ptr ? (s).ptr : ""

static inline struct assay_str str_of(const char *text) /* NULL gives the empty view */
{
	return (struct assay_str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(struct assay_str a, struct assay_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is(struct assay_str a, const char *text)
{
	return str_equal(a, str_of(text));
}

bool str_starts_with(struct assay_str text, struct assay_str prefix);
bool str_ends_with(struct assay_str text, struct assay_str suffix);
/* Offset of the first occurrence, or -1. An empty needle is found at 0. */
ptrdiff_t str_find(struct assay_str text, struct assay_str needle);
/* [begin, end) with both clamped to the text. */
struct assay_str str_slice(struct assay_str text, size_t begin, size_t end);
/* Without ASCII white space (space, \t \n \v \f \r) at both ends. */
struct assay_str str_trim(struct assay_str text);
/*
 * Takes the part before the next `separator` off *rest into *ret_part; false when nothing is left. "a,b," gives
 * "a", "b": a separator at the very end ends the last part and opens no other.
 */
bool str_cut(struct assay_str *rest, char separator, struct assay_str *ret_part);
/* Takes the next run of bytes that are not ASCII white space off *rest; false when none is left. */
bool str_next_word(struct assay_str *rest, struct assay_str *ret_word);
/* The one of `names` (NULL-terminated) nearest to `text` by edit distance, or NULL when none is near: "did you mean".
 */
const char *str_nearest(struct assay_str text, const char *const *names);

#endif
