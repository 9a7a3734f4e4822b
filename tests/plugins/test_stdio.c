/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases a row becomes, which code is taken from a completion, and what is said of an output. */
#include "dataset.h"

#define ONE_TEST      "{\"input\": {\"stdin\": \"1\\n\"}, \"output\": {\"stdout\": \"2\\n\"}}"
#define ROW_OF(tests) "{\"id\": 1, \"content\": \"Add one.\", \"test\": " tests "}"
#define ROW           ROW_OF("[" ONE_TEST ", {\"input\": {\"stdin\": \"\"}, \"output\": {\"stdout\": \"0\"}}]")
#define ROW_OF_TEXT                                                                                                    \
	ROW_OF("\"[{\\\"input\\\": {\\\"stdin\\\": \\\"1\\\\n\\\"}, \\\"output\\\": {\\\"stdout\\\": "                 \
	       "\\\"2\\\\n\\\"}}]\"")

static int open_stdio(void **state)
{
	*state = bench_open("stdio");
	return 0;
}

static void test_cases(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(bench_ask(bench, ROW, STR("code"), "cpp"), 0);
	assert_int_equal(bench->source_count, 1);
	assert_int_equal(bench->case_count, 2);
	assert_view(bench->language, "cpp");
	assert_view(bench->source, "code");
	assert_view(bench->cases[0].name, "1");
	assert_view(bench->cases[1].name, "2");
	assert_view(bench->cases[0].stdin_data, "1\n");
	assert_view(bench->cases[0].secret, "2\n");
	assert_view(bench->cases[1].stdin_data, "");
	assert_int_equal(bench->cases[0].mark, 0);
	assert_int_equal(bench_ask(bench, ROW_OF_TEXT, STR("code"), "cpp"), 0);
	assert_int_equal(bench->case_count, 1);
	assert_view(bench->cases[0].secret, "2\n");
}

static void test_language_is_the_caller_s(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(bench_ask(bench, ROW, STR("code"), ""), ASSAY_INVALID);
	assert_holds(bench->err.message, "--language");
	assert_int_equal(bench->pushes, 0);
}

static void test_rows_that_judge_nothing(void **state)
{
	struct bench *bench = *state;
	static const char *const rows[] = {
	    ROW_OF("[]"),
	    ROW_OF("\"[]\""),
	    ROW_OF("\"\""),
	    ROW_OF("\"[\""),
	    ROW_OF("null"),
	    ROW_OF("{}"),
	    ROW_OF("5"),
	    ROW_OF("[5]"),
	    ROW_OF("[{}]"),
	    ROW_OF("[" ONE_TEST ", {\"input\": {\"stdin\": \"1\"}}]"),
	    ROW_OF("[{\"input\": {}, \"output\": {\"stdout\": \"1\"}}]"),
	    ROW_OF("[{\"input\": {\"stdin\": 1}, \"output\": {\"stdout\": \"1\"}}]"),
	    ROW_OF("[{\"input\": {\"stdin\": \"1\"}, \"output\": {\"stdout\": null}}]"),
	    "{\"id\": 1, \"content\": \"x\"}",
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (bench_ask(bench, rows[i], STR("code"), "python") != ASSAY_INVALID || !bench->err.message[0])
			fail_msg("%s is taken for tests", rows[i]);
}

static void expect_code(struct bench *bench, struct assay_str completion, const char *language, const char *type,
                        const char *code)
{
	assert_int_equal(bench_ask(bench, ROW, completion, language), 0);
	assert_string_equal(bench->type, type);
	assert_view(bench->code, code);
	if (code[0]) {
		assert_view(bench->source, code);
		assert_int_equal(bench->rejection, ASSAY_OUTCOME_NONE);
	} else {
		assert_int_equal(bench->rejection, ASSAY_OUTCOME_NO_CODE);
		assert_int_equal(bench->source_count, 0);
	}
}

static void test_extraction(void **state)
{
	struct bench *bench = *state;
	const struct assay_str fenced = STR("Like so:\n```sh\nls\n```\n```c++\nint a;\n```\n");
	const struct assay_str plain = STR("import os\ndef f():\n    pass\nf()\n");
	expect_code(bench, fenced, "cpp", "fenced", "int a;\n");
	expect_code(bench, plain, "python", "raw", plain.ptr);
	expect_code(bench, STR("```cpp\nint a;"), "cpp", "incomplete_fenced", "int a;\n");
	expect_code(bench, STR(""), "cpp", "raw", "");
	/* What can be no program is not run as one. */
	expect_code(bench, STR("\n```python\n\n```"), "python", "empty", "");
	expect_code(bench, STR("<think>Let me see"), "cpp", "empty", "");
	expect_code(bench, STR("<think>Hm.</think>\ndef f():\n    pass\n"), "python", "heuristic",
	            "def f():\n    pass\n");
	expect_code(bench, STR("puts(\"```\");"), "cpp", "raw", "puts(\"```\");");
	assert_int_equal(bench_options(bench, "{\"extract\": \"none\"}"), 0);
	expect_code(bench, STR("```"), "cpp", "raw", "```");
	expect_code(bench, fenced, "cpp", "raw", fenced.ptr);
	assert_int_equal(bench_options(bench, "{\"extract\": \"fenced\"}"), 0);
	expect_code(bench, fenced, "cpp", "fenced", "int a;\n");
	expect_code(bench, STR("int a;"), "cpp", "empty", "");
	expect_code(bench, plain, "python", "heuristic", "import os\ndef f():\n    pass\n");
}

static void test_prompt(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(bench_ask_prompt(bench, ROW), 0);
	assert_holds(bench->prompt.ptr, "Add one.\n\n");
	assert_holds(bench->prompt.ptr, "standard input");
	assert_int_equal(bench_ask_prompt(bench, "{\"id\": 1, \"content\": 5, \"test\": []}"), ASSAY_INVALID);
}

static enum assay_outcome outcome_of(struct bench *bench, const char *printed, const char *expected)
{
	return bench_check(bench,
	                   (struct assay_observation){.secret = str_of(expected), .stdout_data = str_of(printed)});
}

static void test_comparison_is_an_option(void **state)
{
	struct bench *bench = *state;
	static const struct {
		const char *options, *printed, *expected;
		bool is_right;
	} rows[] = {
	    {NULL, "1  2\n", "1 2", true},
	    {NULL, "1.0", "1", false},
	    {"{\"compare\": \"exact\"}", "1  2\n", "1 2", false},
	    {"{\"compare\": \"float\"}", "1.0", "1", true},
	    {"{\"compare\": \"float\"}", "1.1", "1.0", false},
	    {"{\"compare\": \"float\", \"absolute_tolerance\": 0.2}", "1.1", "1.0", true},
	    {"{\"compare\": \"float\", \"relative_tolerance\": 0.2}", "110.0", "100.0", true},
	    {"{\"compare\": \"sandboxfusion\"}", "YES 1", "yes 1", true},
	    {"{\"compare\": \"sandboxfusion\"}", "1_000", "1000", true},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(bench_options(bench, rows[i].options), 0);
		enum assay_outcome wanted = rows[i].is_right ? ASSAY_OUTCOME_ACCEPTED : ASSAY_OUTCOME_WRONG_ANSWER;
		if (outcome_of(bench, rows[i].printed, rows[i].expected) != wanted)
			fail_msg("row %zu", i);
		assert_int_equal(bench->detail.len == 0, rows[i].is_right);
	}
}

/* A tolerance that would accept nothing, or everything. */
static void test_senseless_options(void **state)
{
	struct bench *bench = *state;
	static const char *const options[] = {
	    "{\"absolute_tolerance\": -1}",      "{\"relative_tolerance\": -1e-9}", "{\"absolute_tolerance\": \"inf\"}",
	    "{\"relative_tolerance\": \"nan\"}", "{\"compare\": \"roughly\"}",      "{\"extract\": \"all\"}",
	};
	for (size_t i = 0; i < COUNT_OF(options); i++)
		if (bench_options(bench, options[i]) != ASSAY_INVALID)
			fail_msg("%s is taken", options[i]);
}

static void test_failures(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(outcome_of(bench, "2\x1b[0m", "2"), ASSAY_OUTCOME_WRONG_ANSWER);
	assert_view(bench->detail, "token 1 is '2\\x1b[0m', expected '2'");
	/* An output that is right does not make up for a failure. */
	assert_int_equal(bench_check(bench, (struct assay_observation){.return_code = 3,
	                                                               .stdout_data = STR("2"),
	                                                               .secret = STR("2"),
	                                                               .stderr_data = STR("oh\nno\n\n")}),
	                 ASSAY_OUTCOME_RUNTIME_ERROR);
	assert_view(bench->detail, "exit code 3: no");
	assert_int_equal(bench_check(bench, (struct assay_observation){.return_code = -11}),
	                 ASSAY_OUTCOME_RUNTIME_ERROR);
	assert_view(bench->detail, "exit code -11");
}

static void test_refusals_are_handed_on(void **state)
{
	struct bench *bench = *state;
	for (size_t at = 1; at <= 4; at++) {
		bench->refuse_at = at;
		assert_int_equal(bench_ask(bench, ROW, STR("code"), "cpp"), ASSAY_LIMIT);
		assert_int_equal(bench->pushes, at);
	}
}

#define test_here(test) cmocka_unit_test_setup_teardown(test, open_stdio, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_here(test_cases),
	    test_here(test_language_is_the_caller_s),
	    test_here(test_rows_that_judge_nothing),
	    test_here(test_extraction),
	    test_here(test_prompt),
	    test_here(test_comparison_is_an_option),
	    test_here(test_senseless_options),
	    test_here(test_failures),
	    test_here(test_refusals_are_handed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
