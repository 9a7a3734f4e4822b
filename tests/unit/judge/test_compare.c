/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/arena.h"
#include "base/buffer.h"
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
	    {".5", "0.5", false, false, true, true},
	    {"5.", "5", false, false, true, true},
	    {"1_0.5", "10.5", false, false, false, true},
	    {"1__0", "10", false, false, false, false},
	    {"_10", "10", false, false, false, false},
	    {"10_", "10", false, false, false, false},
	    {"1e", "1", false, false, false, false},
	    {"1e1.5", "1", false, false, false, false},
	    {"1.2.3", "1.2", false, false, false, false},
	    {".", "0", false, false, false, false},
	    {"-", "0", false, false, false, false},
	    {"1f", "1", false, false, false, false},
	    {"0x1p3", "8", false, false, false, false},
	    {"inf", "inf", true, true, true, true},
	    {"inf", "1e308", false, false, false, false},
	    {"nan", "0.0", false, false, false, false},
	    {"1e999", "2e999", false, false, false, false}, /* neither is a number that a double holds */
	    {"1e-999", "0.0", false, false, true, true},
	    {"2\x1c", "2", false, false, false, true},            /* a blank for Python alone */
	    {"\xC3\x89", "\xC3\xA9", false, false, false, false}, /* case is that of ASCII */
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
	for (size_t m = 0; compare_modes[m]; m++)
		assert_false(equal(compare_modes[m], STR("a\0b"), STR("a\0c")));
	assert_false(equal("float", STR("1.0\0x"), STR("1")));
	assert_false(equal("sandboxfusion", STR("1\0"), STR("1")));
}

/* Numbers are numbers however many digits they have. */
static void test_long_numbers(void **state)
{
	(void)state;
	for (size_t digits = 50; digits < 5000; digits += 1 + digits / 4) {
		auto_arena struct arena *arena = arena_new();
		char *third = arena_alloc(arena, digits + 8), *zeroes = arena_alloc(arena, digits + 8);
		memcpy(third, "0.", 2);
		memset(third + 2, '3', digits);
		memset(zeroes, '0', digits);
		memcpy(zeroes + digits, "7.5", 3);
		assert_true(equal("float", str_of(third), STR("0.33333333333333")));
		assert_false(equal("float", str_of(third), STR("0.3334")));
		assert_true(equal("float", str_of(zeroes), STR("7.5")));
		assert_true(equal("sandboxfusion", STR("7.50000001"), str_of(zeroes)));
		assert_false(equal("tokens", str_of(zeroes), STR("7.5")));
	}
}

/* One long line, one long token, many of either: no work is done twice. */
static void test_hostile_lengths(void **state)
{
	(void)state;
	static const char *const units[] = {"1", "1_", "1e", "1.5 ", "1\n", " ", "\n", "a", "-", "\x1c"};
	for (size_t i = 0; i < COUNT_OF(units); i++) {
		auto_buffer struct buffer text = {0}, other = {0};
		while (text.len < 1000000)
			buffer_append_str(&text, str_of(units[i]));
		buffer_append_str(&other, buffer_str(&text));
		buffer_append(&other, "2", 1);
		for (size_t m = 0; compare_modes[m]; m++) {
			assert_true(equal(compare_modes[m], buffer_str(&text), buffer_str(&text)));
			equal(compare_modes[m], buffer_str(&text), buffer_str(&other));
			equal(compare_modes[m], buffer_str(&other), buffer_str(&text));
		}
	}
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
	                                   cmocka_unit_test(test_long_numbers), cmocka_unit_test(test_hostile_lengths),
	                                   cmocka_unit_test(test_unknown_mode_and_difference)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
