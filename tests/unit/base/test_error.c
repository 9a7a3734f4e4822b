/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "base/utf8.h"

static void test_forms(void **state)
{
	(void)state;
	char text[ERROR_TEXT_MAX];
	struct assay_error err = {0};
	assert_int_equal(error_set(&err, ASSAY_SYSTEM, ENOENT, "cannot open '%s'", "x"), ASSAY_SYSTEM);
	assert_string_equal(error_format(&err, text, sizeof(text)), "cannot open 'x': No such file or directory");
	error_at(&err, "a.yaml", 3, 7, "bad");
	assert_string_equal(error_format(&err, text, sizeof(text)), "a.yaml:3:7: bad");
	error_at(&err, "a.jsonl", 3, 0, "bad");
	assert_string_equal(error_format(&err, text, sizeof(text)), "a.jsonl:3: bad");
	error_wrap(&err, "while %s", "reading");
	assert_string_equal(error_format(&err, text, sizeof(text)), "a.jsonl:3: while reading: bad");
	assert_int_equal(error_set(NULL, ASSAY_LIMIT, 0, "nobody asks"), ASSAY_LIMIT);
}

static void test_arguments_may_point_into_the_error(void **state)
{
	(void)state;
	struct assay_error err = {0};
	error_set(&err, ASSAY_INVALID, 0, "inner");
	error_set(&err, ASSAY_INVALID, 0, "outer of %s", err.message);
	assert_string_equal(err.message, "outer of inner");
}

static void test_long_texts_are_cut_between_characters(void **state)
{
	(void)state;
	struct assay_error err = {0};
	char text[1001], whole[ERROR_TEXT_MAX];
	for (size_t i = 0; i < 1000; i += 2)
		memcpy(text + i, "\xC3\xA9", 2);
	text[1000] = 0;
	for (int shift = 0; shift < 2; shift++) {
		error_set(&err, ASSAY_INVALID, 0, "%.*s%s", shift, "x", text);
		size_t len = strlen(err.message);
		assert_true(len < sizeof(err.message));
		assert_int_equal(utf8_valid_prefix(err.message, len), len);
		error_wrap(&err, "%s", text);
		len = strlen(err.message);
		assert_int_equal(utf8_valid_prefix(err.message, len), len);
	}
	error_at(&err, text, 1, 1, "x");
	assert_memory_equal(err.file, "...", 3);
	assert_int_equal(strlen(err.file), sizeof(err.file) - 1);
	error_format(&err, whole, sizeof(whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),
	    cmocka_unit_test(test_arguments_may_point_into_the_error),
	    cmocka_unit_test(test_long_texts_are_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
