/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/quantity.h"

static void test_int64(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "", "-", "+1", " 1", "1 ", "01", "-01", "1.0", "0x1", "1e3", "9223372036854775808", "-9223372036854775809"};
	int64_t value;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(parse_int64(str_of(bad[i]), &value));
	assert_true(parse_int64(STR("0"), &value) && value == 0);
	assert_true(parse_int64(STR("9223372036854775807"), &value) && value == INT64_MAX);
	assert_true(parse_int64(STR("-9223372036854775808"), &value) && value == INT64_MIN);
}

static void test_real(void **state)
{
	(void)state;
	static const char *const bad[] = {"", ".5", "5.", "1e", "nan", "inf", "0x1p3", "1e999", "1,5", "00.1"};
	double value;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(parse_real(str_of(bad[i]), &value));
	assert_true(parse_real(STR("-1.5e2"), &value) && value == -150);
	assert_true(parse_real(STR("0"), &value) && value == 0);
}

static void test_durations(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {{"10s", 10 * NS_PER_S}, {"250ms", 250 * NS_PER_MS}, {"1.5h", 5400 * NS_PER_S}, {"0s", 0},
	            {"2m", 120 * NS_PER_S}, {"0.25ms", 250000}};
	static const char *const bad[] = {"",    "10",  "s",  "-1s",   "1 s",         "1.s",
	                                  ".5s", "1ss", "1d", "0.1ns", "99999999999h"};
	int64_t ns;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		assert_true(parse_duration(str_of(good[i].text), &ns));
		assert_int_equal(ns, good[i].ns);
		auto_buffer struct buffer text = {0};
		format_duration(&text, ns);
		int64_t again;
		assert_true(parse_duration(buffer_str(&text), &again) && again == ns);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(parse_duration(str_of(bad[i]), &ns));
}

static void test_sizes(void **state)
{
	(void)state;
	uint64_t bytes;
	assert_true(parse_size(STR("512MiB"), &bytes) && bytes == UINT64_C(512) << 20);
	assert_true(parse_size(STR("1.5GiB"), &bytes) && bytes == UINT64_C(3) << 29);
	assert_true(parse_size(STR("2MB"), &bytes) && bytes == 2000000);
	assert_true(parse_size(STR("100B"), &bytes) && bytes == 100);
	assert_false(parse_size(STR("100"), &bytes));
	assert_false(parse_size(STR("1mib"), &bytes));
	assert_false(parse_size(STR("0.5B"), &bytes));
	assert_false(parse_size(STR("99999999TiB"), &bytes));
	auto_buffer struct buffer text = {0};
	format_size(&text, UINT64_C(3) << 29);
	assert_string_equal(text.data, "1536MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_int64), cmocka_unit_test(test_real),
	                                   cmocka_unit_test(test_durations), cmocka_unit_test(test_sizes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
