/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

static void test_slices_are_clamped(void **state)
{
	(void)state;
	assert_str(str_slice(STR("abc"), 1, 2), "b");
	assert_str(str_slice(STR("abc"), 1, 99), "bc");
	assert_str(str_slice(STR("abc"), 5, 2), "");
	assert_str(str_slice((struct assay_str){0}, 0, 3), "");
}

static void test_find_and_affixes(void **state)
{
	(void)state;
	assert_int_equal(str_find(STR("abcabc"), STR("ca")), 2);
	assert_int_equal(str_find(STR("abc"), STR("")), 0);
	assert_int_equal(str_find(STR(""), STR("a")), -1);
	assert_true(str_starts_with(STR("abc"), STR("ab")));
	assert_false(str_starts_with(STR("a"), STR("ab")));
	assert_true(str_ends_with(STR("abc"), STR("bc")));
	assert_false(str_ends_with(STR("c"), STR("bc")));
	assert_true(str_ends_with(STR("c"), STR("")));
}

static void test_trim(void **state)
{
	(void)state;
	assert_str(str_trim(STR(" \t\r\n\v\fa b \n")), "a b");
	assert_str(str_trim(STR(" \n ")), "");
	assert_str(str_trim(STR("\xC2\xA0x")), "\xC2\xA0x"); /* only ASCII blanks are blanks */
}

static void test_cut(void **state)
{
	(void)state;
	struct assay_str rest = STR("a,,b,"), part;
	assert_true(str_cut(&rest, ',', &part));
	assert_str(part, "a");
	assert_true(str_cut(&rest, ',', &part));
	assert_str(part, "");
	assert_true(str_cut(&rest, ',', &part));
	assert_str(part, "b");
	assert_false(str_cut(&rest, ',', &part));
}

static void test_words(void **state)
{
	(void)state;
	struct assay_str rest = STR("  one\ttwo\n"), word;
	assert_true(str_next_word(&rest, &word));
	assert_str(word, "one");
	assert_true(str_next_word(&rest, &word));
	assert_str(word, "two");
	assert_false(str_next_word(&rest, &word));
	assert_false(str_next_word(&rest, &word));
}

static void test_nearest(void **state)
{
	(void)state;
	static const char *const names[] = {"python", "pytest", "cpp", "c", NULL};
	assert_string_equal(str_nearest(STR("pyhton"), names), "python");
	assert_string_equal(str_nearest(STR("cpp"), names), "cpp");
	assert_null(str_nearest(STR("haskell"), names));
	assert_null(str_nearest(STR(""), names));
	char huge[1000];
	memset(huge, 'x', sizeof(huge));
	assert_null(str_nearest((struct assay_str){huge, sizeof(huge)}, names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_slices_are_clamped),
	    cmocka_unit_test(test_find_and_affixes),
	    cmocka_unit_test(test_trim),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_nearest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
