/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include <stdint.h>

static const char replacement[] = "\xEF\xBF\xBD";

static bool is_tail(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/*
 * Looks at the character at `bytes`: its length when it is valid, else 0 and in *ret_bad the length of the maximal
 * invalid part (Unicode 15, table 3-7: the second byte's range depends on the first).
 */
static size_t character(const unsigned char *bytes, size_t len, size_t *ret_bad)
{
	unsigned char first = bytes[0];
	*ret_bad = 1;
	if (first < 0x80)
		return 1;
	size_t size = first >= 0xC2 && first <= 0xDF   ? 2
	              : first >= 0xE0 && first <= 0xEF ? 3
	              : first >= 0xF0 && first <= 0xF4 ? 4
	                                               : 0;
	if (size == 0 || len < 2)
		return 0;
	unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
	unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
	if (bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < size; i++) {
		*ret_bad = i;
		if (i >= len || !is_tail(bytes[i]))
			return 0;
	}
	return size;
}

/* Length of the ASCII prefix, eight bytes at a time. */
static size_t ascii_prefix(const char *bytes, size_t len)
{
	size_t i = 0;
	for (uint64_t word; i + 8 <= len; i += 8) {
		memcpy(&word, bytes + i, 8);
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	while (i < len && !((unsigned char)bytes[i] & 0x80))
		i++;
	return i;
}

size_t utf8_valid_prefix(const char *bytes, size_t len)
{
	size_t i = 0, bad;
	while (i < len) {
		i += ascii_prefix(bytes + i, len - i);
		if (i == len)
			break;
		size_t size = character((const unsigned char *)bytes + i, len - i, &bad);
		if (size == 0)
			return i;
		i += size;
	}
	return i;
}

bool utf8_append_clean(struct buffer *out, const char *bytes, size_t len)
{
	bool is_replaced = false;
	while (len > 0) {
		size_t good = utf8_valid_prefix(bytes, len);
		buffer_append(out, bytes, good);
		bytes += good;
		len -= good;
		if (len == 0)
			break;
		size_t bad;
		character((const unsigned char *)bytes, len, &bad);
		bad = MIN(bad, len);
		buffer_append(out, replacement, sizeof(replacement) - 1);
		bytes += bad;
		len -= bad;
		is_replaced = true;
	}
	return is_replaced;
}

size_t utf8_cut(const char *bytes, size_t len, size_t limit)
{
	if (len < limit)
		return len;
	/* Back over an unfinished character, but not over bytes that are none. */
	for (size_t back = 1; back <= MIN(limit, (size_t)4); back++) {
		unsigned char c = (unsigned char)bytes[limit - back];
		if (is_tail(c))
			continue;
		size_t size = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
		return size > back ? limit - back : limit;
	}
	return limit;
}
