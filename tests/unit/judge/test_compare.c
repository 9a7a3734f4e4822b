/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/arena.h"
#include "base/error.h"
#include "judge/compare.h"

static bool equal(const char *mode, struct assay_str actual, struct assay_str expected)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_comparison how = {.size = sizeof(how), .mode = str_of(mode)};
	bool is_equal;
	struct assay_str difference = {0};
	assert_int_equal(compare_outputs(arena, &how, actual, expected, &is_equal, &difference, NULL), 0);
	assert_int_equal(difference.len == 0, is_equal);
	for (size_t i = 0; i < difference.len; i++)
		assert_true((unsigned char)difference.ptr[i] >= 0x20);
	return is_equal;
}

struct row {
	const char *actual, *expected;
	bool exact, tokens, real, service;
};

static void test_modes(void **state)
{
	(void)state;
	static const struct row rows[] = {
	    /* actual, expected                 exact  tokens float  sandboxfusion */
	    {"1 2\n", "1 2\n", true, true, true, true},
	    {"1 2 \n\n", "1 2", false, true, true, true},
	    {"1\r\n2\r\n", "1\n2\n", false, true, true, true},
	    {"1\n2", "1 2", false, true, true, false},
	    {"1  2", "1 2", false, true, true, false},
	    {"ab", "a b", false, false, false, false},
	    {"5", "5 1 0", false, false, false, false},
	    {"5 1 0", "5", false, false, false, false},
	    {"YES", "yes", false, false, false, true},
	    {"NO\nYES\nYES", "YES\nNO\nYES", false, false, false, false},
	    {"", "", true, true, true, true},
	    {" \n", "", false, true, true, true},
	    {"", "0", false, false, false, false},
	    {"0.3000000001", "0.3", false, false, true, true},
	    {"0.301", "0.3", false, false, false, false},
	    {"3.0", "3", false, false, true, true},
	    {"1e2", "100", false, false, true, true},
	    {"1000000001", "1000000000", false, false, false,
	     true}, /* integers have no tolerance but in that service */
	    {"1_000", "1000", false, false, false, true},
	    {"0x10", "16", false, false, false, false},
	    {"nan", "nan", true, true, true, true},
	    {"nan", "NaN", false, false, false, true},
	    {"Infinity", "inf", false, false, false, false},
	    {"\xD9\xA1", "1", false, false, false, false}, /* an Arabic digit is no digit */
	    {"\xEF\xBB\xBF"
	     "1",
	     "1", false, true, true, false},
	    {"1\n\n2", "1\n2", false, true, true, false},
	    {"-0.0", "0", false, false, true, true},
	    {"+1", "1", false, false, false, true},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		const bool wanted[] = {row->exact, row->tokens, row->real, row->service};
		for (size_t m = 0; compare_modes[m]; m++)
			if (equal(compare_modes[m], str_of(row->actual), str_of(row->expected)) != wanted[m])
				fail_msg("row %zu, mode %s", i, compare_modes[m]);
	}
	assert_false(equal("tokens", STR("a\0b"), STR("a")));
	assert_true(equal("", STR("a\0b "), STR("a\0b"))); /* the default is tokens */
}

static void test_tolerance(void **state)
{
	(void)state;
	static const struct {
		const char *actual, *expected;
		double absolute, relative;
		bool wanted;
	} rows[] = {
	    {"1.05", "1.0", 0.1, 0, true},       {"1.2", "1.0", 0.1, 0, false},
	    {"1e-5", "0.0", 0, 1e-3, false},     {"1e-16", "0.0", 1e-9, 0, true},
	    {"1001.0", "1000.0", 0, 1e-3, true}, {"1002.0", "1000.0", 0, 1e-3, false},
	    {"1001.0", "1000.0", 2, 1e-9, true}, /* the larger of the two counts */
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		auto_arena struct arena *arena = arena_new();
		const struct assay_comparison how = {.size = sizeof(how),
		                                     .mode = STR("float"),
		                                     .absolute_tolerance = rows[i].absolute,
		                                     .relative_tolerance = rows[i].relative};
		bool is_equal;
		struct assay_str difference;
		assert_int_equal(compare_outputs(arena, &how, str_of(rows[i].actual), str_of(rows[i].expected),
		                                 &is_equal, &difference, NULL),
		                 0);
		assert_int_equal(is_equal, rows[i].wanted);
	}
}

static void test_unknown_mode_and_difference(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct assay_comparison how = {.size = sizeof(how), .mode = STR("fuzzy")};
	struct assay_error err = {0};
	struct assay_str difference;
	bool is_equal;
	assert_int_equal(compare_outputs(arena, &how, STR("1"), STR("1"), &is_equal, &difference, &err), ASSAY_INVALID);
	assert_contains(err.message, "fuzzy");
	how.mode = STR("tokens");
	assert_int_equal(compare_outputs(arena, &how, STR("1 \x1B[31m"), STR("1 3"), &is_equal, &difference, &err), 0);
	assert_str(difference, "token 2 is '\\x1b[31m', expected '3'");
	assert_int_equal(compare_outputs(arena, &how, STR("1"), STR("1 3"), &is_equal, &difference, &err), 0);
	assert_str(difference, "the output ends after token 1, expected '3'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes), cmocka_unit_test(test_tolerance),
	                                   cmocka_unit_test(test_unknown_mode_and_difference)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
