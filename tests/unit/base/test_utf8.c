/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/utf8.h"

#define FFFD "\xEF\xBF\xBD"

static void check_clean(const char *bytes, size_t len, const char *wanted)
{
	auto_buffer struct buffer out = {0};
	bool is_replaced = utf8_append_clean(&out, bytes, len);
	assert_string_equal(out.data ? out.data : "", wanted);
	assert_int_equal(is_replaced, utf8_valid_prefix(bytes, len) < len);
	assert_int_equal(utf8_valid_prefix(out.data ? out.data : "", out.len), out.len);
}

#define CLEAN(bytes, wanted) check_clean(bytes, sizeof(bytes) - 1, wanted)

static void test_clean(void **state)
{
	(void)state;
	CLEAN("", "");
	CLEAN("plain ascii, longer than a word", "plain ascii, longer than a word");
	CLEAN("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
	CLEAN("a\xFFz", "a" FFFD "z");
	CLEAN("\xC0\xAF", FFFD FFFD);                   /* overlong */
	CLEAN("\xED\xA0\x80", FFFD FFFD FFFD);          /* surrogate */
	CLEAN("\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD); /* above U+10FFFF */
	CLEAN("\xE2\x82", FFFD);                        /* cut short: one maximal part */
	CLEAN("\xF0\x9F\x98z", FFFD "z");
	CLEAN("\x80\x80", FFFD FFFD);
}

static void test_cut(void **state)
{
	(void)state;
	const char text[] = "a\xC3\xA9\xF0\x9F\x98\x80";
	size_t len = sizeof(text) - 1;
	assert_int_equal(utf8_cut(text, len, 0), 0);
	assert_int_equal(utf8_cut(text, len, 1), 1);
	assert_int_equal(utf8_cut(text, len, 2), 1);
	assert_int_equal(utf8_cut(text, len, 3), 3);
	for (size_t limit = 4; limit < 7; limit++)
		assert_int_equal(utf8_cut(text, len, limit), 3);
	assert_int_equal(utf8_cut(text, len, 7), 7);
	assert_int_equal(utf8_cut(text, len, 100), len);
	assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5); /* not text at all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean), cmocka_unit_test(test_cut)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
