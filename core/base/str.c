/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

bool str_starts_with(struct assay_str text, struct assay_str prefix)
{
	return text.len >= prefix.len && str_equal((struct assay_str){text.ptr, prefix.len}, prefix);
}

bool str_ends_with(struct assay_str text, struct assay_str suffix)
{
	return text.len >= suffix.len && str_equal(str_slice(text, text.len - suffix.len, text.len), suffix);
}

ptrdiff_t str_find(struct assay_str text, struct assay_str needle)
{
	if (needle.len == 0)
		return 0;
	const char *found = text.len ? memmem(text.ptr, text.len, needle.ptr, needle.len) : NULL;
	return found ? found - text.ptr : -1;
}

struct assay_str str_slice(struct assay_str text, size_t begin, size_t end)
{
	end = MIN(end, text.len);
	begin = MIN(begin, end);
	return (struct assay_str){text.ptr ? text.ptr + begin : NULL, end - begin};
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct assay_str str_trim(struct assay_str text)
{
	size_t begin = 0, end = text.len;
	while (begin < end && is_blank(text.ptr[begin]))
		begin++;
	while (end > begin && is_blank(text.ptr[end - 1]))
		end--;
	return str_slice(text, begin, end);
}

bool str_cut(struct assay_str *rest, char separator, struct assay_str *ret_part)
{
	if (rest->len == 0)
		return false;
	const char *end = memchr(rest->ptr, separator, rest->len);
	size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
	*ret_part = str_slice(*rest, 0, len);
	*rest = str_slice(*rest, len + 1, rest->len);
	return true;
}

bool str_next_word(struct assay_str *rest, struct assay_str *ret_word)
{
	size_t begin = 0;
	while (begin < rest->len && is_blank(rest->ptr[begin]))
		begin++;
	size_t end = begin;
	while (end < rest->len && !is_blank(rest->ptr[end]))
		end++;
	*ret_word = str_slice(*rest, begin, end);
	*rest = str_slice(*rest, end, rest->len);
	return end > begin;
}

#define NEAREST_MAX 40

/* Levenshtein's distance; both texts at most NEAREST_MAX long. */
static size_t edit_distance(struct assay_str a, struct assay_str b)
{
	size_t row[NEAREST_MAX + 1];
	for (size_t j = 0; j <= b.len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			size_t change = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
			diagonal = row[j];
			row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[b.len];
}

const char *str_nearest(struct assay_str text, const char *const *names)
{
	const char *nearest = NULL;
	size_t best = 4; /* further apart than this is no slip of the hand */
	for (; text.len > 0 && *names; names++) {
		struct assay_str name = str_of(*names);
		if (text.len > NEAREST_MAX || name.len > NEAREST_MAX)
			continue;
		size_t distance = edit_distance(text, name);
		if (distance < best && distance * 2 <= MAX(name.len, (size_t)2)) {
			best = distance;
			nearest = *names;
		}
	}
	return nearest;
}
