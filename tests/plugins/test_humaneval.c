/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a completion becomes, and what is said of how it ended. */
#include "dataset.h"

#define PROMPT_TEXT    "def f(x):\\n    \\\"\\\"\\\"Doc.\\\"\\\"\\\"\\n"
#define PROMPT         "def f(x):\n    \"\"\"Doc.\"\"\"\n"
#define TEST           "def check(c): pass\n"
#define ROW_OF(prompt) "{\"prompt\": \"" prompt "\", \"entry_point\": \"f\", \"test\": \"def check(c): pass\\n\"}"
#define ROW            ROW_OF(PROMPT_TEXT)
#define WHOLE          "def f(x):\n    return 1\n"

static int open_humaneval(void **state)
{
	*state = bench_open("humaneval");
	return 0;
}

/* The program is `before` the tests, the tests, the call and the mark. */
static void expect_program(struct bench *bench, const char *row, struct assay_str completion, const char *type,
                           const char *before)
{
	if (bench_ask(bench, row, completion, ""))
		fail_msg("%s", bench->err.message);
	assert_string_equal(bench->type, type);
	assert_int_equal(bench->source_count, 1);
	assert_int_equal(bench->case_count, 1);
	assert_string_equal(bench->language.ptr, "python");
	struct assay_str wanted =
	    arena_printf(bench->arena, "%s\n" TEST "\ncheck(f)\n__import__('os').write(3, b'%s')\n", before,
	                 bench->cases[0].secret.ptr);
	assert_string_equal(bench->source.ptr, wanted.ptr);
}

static void test_completions(void **state)
{
	struct bench *bench = *state;
	expect_program(bench, ROW, STR("    return 1\n"), "raw", PROMPT "    return 1\n");
	expect_program(bench, ROW, STR("    return '```'\n"), "raw", PROMPT "    return '```'\n");
	/* A model that was given the prompt in a fence closes it and explains. */
	expect_program(bench, ROW, STR("    return 1\n```\nSo `f` is 1:\n```python\nf()\n```\n"), "raw",
	               PROMPT "    return 1");
	expect_program(bench, ROW, STR("\n\treturn 1\n~~~\n"), "raw", PROMPT "\n\treturn 1");
	expect_program(bench, ROW, STR(WHOLE), "raw", PROMPT WHOLE);
	expect_program(bench, ROW, STR("def f(x):\n    return '```'\n"), "raw", PROMPT "def f(x):\n    return '```'\n");
}

static void test_chat_answers(void **state)
{
	struct bench *bench = *state;
	const struct assay_str answer = STR("Sure:\n```python\n" WHOLE "```\nDone."),
	                       body = STR("```\n    return 1\n```");
	expect_program(bench, ROW, answer, "fenced", PROMPT "\n\n" WHOLE);
	expect_program(bench, ROW, STR(" Sure:\n```python\n" WHOLE "```\n"), "fenced", PROMPT "\n\n" WHOLE);
	expect_program(bench, ROW,
	               STR("  ```python\n  "
	                   "def f(x): pass\n  ```\n"),
	               "fenced", PROMPT "\n\ndef f(x): pass\n");
	expect_program(bench, ROW, STR("```python\n" WHOLE), "incomplete_fenced", PROMPT "\n\n" WHOLE);
	expect_program(bench, ROW, body, "fenced", PROMPT "    return 1\n");
	expect_program(bench, ROW, STR("<think>Hm.</think>\n" WHOLE), "heuristic", PROMPT "\n\n" WHOLE);
	/* A prompt is brought to its end, whatever it ends with. */
	expect_program(bench, ROW_OF("def f(x): "), answer, "fenced", "def f(x): \n    pass\n\n" WHOLE);
	expect_program(bench, ROW_OF("def f(x):  # one\\n"), answer, "fenced",
	               "def f(x):  # one\n\n    pass\n\n" WHOLE);
	expect_program(bench, ROW_OF("class A:\\n  def f(x):\\n"), answer, "fenced",
	               "class A:\n  def f(x):\n\n      pass\n\n" WHOLE);
	expect_program(bench, ROW_OF("def f(x):\\n\\t# one\\n\\n"), answer, "fenced",
	               "def f(x):\n\t# one\n\n\n\tpass\n\n" WHOLE);
	expect_program(bench, ROW_OF("def f(x):\\n  '''Doc.\\n odd'''"), answer, "fenced",
	               "def f(x):\n  '''Doc.\n odd'''\n\n" WHOLE);
	expect_program(bench, ROW_OF("def f(x):\\n    'Doc.'"), body, "fenced",
	               "def f(x):\n    'Doc.'\n    return 1\n");
	expect_program(bench, ROW_OF(""), answer, "fenced", "\npass\n\n" WHOLE);
}

static void test_future_imports(void **state)
{
	struct bench *bench = *state;
	expect_program(
	    bench, ROW,
	    STR("```python\nimport os\nfrom __future__ import annotations\n    from __future__ import x\n" WHOLE "```"),
	    "fenced",
	    "from __future__ import annotations\n" PROMPT
	    "\n\nimport os\n#rom __future__ import annotations\n    from __future__ import x\n" WHOLE);
}

static void test_modes(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(bench_options(bench, "{\"mode\": \"completion\"}"), 0);
	expect_program(bench, ROW, STR("```python\n" WHOLE "```"), "raw", PROMPT "```python\n" WHOLE "```");
	assert_int_equal(bench_options(bench, "{\"mode\": \"chat\"}"), 0);
	expect_program(bench, ROW, STR("Like so:\n" WHOLE "That is all."), "heuristic", PROMPT "\n\n" WHOLE);
	assert_int_equal(bench_ask(bench, ROW, STR("    return 1\n"), ""), 0);
	assert_int_equal(bench->rejection, ASSAY_OUTCOME_NO_CODE);
	assert_int_equal(bench_options(bench, "{\"mode\": \"chatty\"}"), ASSAY_INVALID);
}

static void test_stops(void **state)
{
	struct bench *bench = *state;
	const struct assay_str text = STR("    return 1\n\n# more\ndef g():\n    pass\nprint(f(1))\n");
	expect_program(bench, ROW, text, "raw", arena_printf(bench->arena, PROMPT "%s", text.ptr).ptr);
	assert_int_equal(bench_options(bench, "{\"stop\": \"codex\"}"), 0);
	expect_program(bench, ROW, text, "raw", PROMPT "    return 1\n");
	assert_int_equal(bench_options(bench, "{\"stop\": \"\\nprint||\\ndef|never\"}"), 0);
	expect_program(bench, ROW, text, "raw", PROMPT "    return 1\n\n# more");
	auto_buffer struct buffer many = {0};
	buffer_printf(&many, "{\"stop\": \"");
	for (int i = 0; i < 33; i++)
		buffer_printf(&many, "%d|", i);
	buffer_printf(&many, "\"}");
	assert_int_equal(bench_options(bench, many.data), ASSAY_INVALID);
	assert_holds(bench->err.message, "stop sequences");
}

static void test_nothing_to_run(void **state)
{
	struct bench *bench = *state;
	static const char *const empty[] = {
	    "",           " \n\t\r\n", "```python\n```", "```\n \n```\n", "<think>```\nx\n```", "<think>Let me see",
	    "a ```b``` c"};
	for (size_t i = 0; i < COUNT_OF(empty); i++) {
		assert_int_equal(bench_ask(bench, ROW, str_of(empty[i]), ""), 0);
		if (bench->rejection != ASSAY_OUTCOME_NO_CODE || bench->source_count || bench->extracted_count != 1)
			fail_msg("'%s' is taken for code", empty[i]);
	}
}

static void test_rows_that_judge_nothing(void **state)
{
	struct bench *bench = *state;
	static const char *const rows[][2] = {
	    {"{\"prompt\": \"p\", \"entry_point\": \"f\", \"test\": \"\"}", "no tests"},
	    {"{\"prompt\": \"p\", \"entry_point\": \"f\", \"test\": \" \\n\\t\"}", "no tests"},
	    {"{\"prompt\": \"p\", \"entry_point\": \" \", \"test\": \"def check(c): pass\"}", "no tests"},
	    {"{\"prompt\": \"p\", \"entry_point\": \"f\", \"test\": \"assert f(1)\"}", "check()"},
	    {"{\"prompt\": \"p\", \"entry_point\": \"f\"}", "'test'"},
	    {"{\"prompt\": 5, \"entry_point\": \"f\", \"test\": \"check\"}", "text"},
	    {"{\"prompt\": \"p\", \"entry_point\": \"f\", \"test\": null}", ""},
	    {"{}", "'prompt'"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(bench_ask(bench, rows[i][0], STR("    return 1\n"), ""), ASSAY_INVALID);
		assert_holds(bench->err.message, rows[i][1]);
		assert_int_equal(bench->pushes, 0);
		assert_int_equal(bench_ask_prompt(bench, rows[i][0]), ASSAY_INVALID);
	}
}

/* A nonce is new each time, and a NUL or any other byte of a completion reaches the program as it stands. */
static void test_hostile_completions(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(bench_ask(bench, ROW, STR("    return 1\0\xff%s%n'''\\"), ""), 0);
	char first[33] = "";
	assert_int_equal(bench->cases[0].secret.len, 32);
	memcpy(first, bench->cases[0].secret.ptr, 32);
	assert_int_equal(bench->cases[0].mark, 1);
	assert_int_equal(bench->cases[0].stdin_data.len, 0);
	assert_memory_equal(bench->source.ptr, PROMPT "    return 1\0\xff%s%n'''\\\n" TEST,
	                    sizeof(PROMPT "    return 1\0\xff%s%n'''\\\n" TEST) - 1);
	assert_int_equal(bench_ask(bench, ROW, STR("    return 1\n"), "pypy"), 0);
	assert_string_not_equal(bench->cases[0].secret.ptr, first);
	assert_string_equal(bench->language.ptr, "pypy");
	struct assay_str large = {arena_alloc(bench->arena, 3000000), 3000000};
	for (size_t unit = 0; unit < 3; unit++) {
		memset((char *)large.ptr, "`\n "[unit], large.len);
		assert_int_equal(bench_ask(bench, ROW, large, ""), 0);
	}
}

static void test_refusals_are_handed_on(void **state)
{
	struct bench *bench = *state;
	for (size_t at = 1; at <= 3; at++) {
		bench->refuse_at = at;
		assert_int_equal(bench_ask(bench, ROW, STR("    return 1\n"), ""), ASSAY_LIMIT);
		assert_int_equal(bench->pushes, at);
	}
}

#define NONCE     "00112233445566778899aabbccddeeff"
#define TRACEBACK "Traceback (most recent call last):\n  File \"main.py\", line 9, in <module>\n"

static void test_outcomes(void **state)
{
	struct bench *bench = *state;
	static const struct {
		int code;
		const char *mark, *error;
		enum assay_outcome outcome;
		const char *detail;
	} rows[] = {
	    {0, NONCE, "", ASSAY_OUTCOME_ACCEPTED, ""},
	    {0, NONCE, "DeprecationWarning: old\n", ASSAY_OUTCOME_ACCEPTED, ""},
	    {0, "", "", ASSAY_OUTCOME_WRONG_ANSWER, "the program ended before its tests did"},
	    {0, "1", "", ASSAY_OUTCOME_WRONG_ANSWER, "the program ended before its tests did"},
	    {0, NONCE "1", "", ASSAY_OUTCOME_WRONG_ANSWER, "the program ended before its tests did"},
	    {0, "00112233445566778899aabbccddeefe", "", ASSAY_OUTCOME_WRONG_ANSWER,
	     "the program ended before its tests did"},
	    {1, NONCE, "", ASSAY_OUTCOME_RUNTIME_ERROR, "exit code 1"},
	    {1, "", TRACEBACK "AssertionError\n", ASSAY_OUTCOME_WRONG_ANSWER, "AssertionError"},
	    {1, "", TRACEBACK "AssertionError: 1\n2\n3\n", ASSAY_OUTCOME_WRONG_ANSWER, "AssertionError: 1"},
	    {1, "", "note\n" TRACEBACK "AssertionError\r\n\n", ASSAY_OUTCOME_WRONG_ANSWER, "AssertionError"},
	    {1, "", TRACEBACK "ValueError: AssertionError\n", ASSAY_OUTCOME_RUNTIME_ERROR,
	     "ValueError: AssertionError"},
	    {1, "", TRACEBACK "AssertionErrorOfMine\n", ASSAY_OUTCOME_RUNTIME_ERROR, "AssertionErrorOfMine"},
	    {1, "", TRACEBACK "AssertionError\n\nDuring handling:\n\n" TRACEBACK "KeyError: 1\n",
	     ASSAY_OUTCOME_RUNTIME_ERROR, "KeyError: 1"},
	    {-11, "", TRACEBACK "AssertionError\nFatal\n", ASSAY_OUTCOME_RUNTIME_ERROR, "Fatal"},
	    {3, "", "", ASSAY_OUTCOME_RUNTIME_ERROR, "exit code 3"},
	    {-6, NONCE, " \n", ASSAY_OUTCOME_RUNTIME_ERROR, "exit code -6"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum assay_outcome outcome =
		    bench_check(bench, (struct assay_observation){.secret = STR(NONCE),
		                                                  .return_code = rows[i].code,
		                                                  .mark_data = str_of(rows[i].mark),
		                                                  .stderr_data = str_of(rows[i].error)});
		if (outcome != rows[i].outcome)
			fail_msg("row %zu: outcome %d", i, (int)outcome);
		assert_view(bench->detail, rows[i].detail);
	}
	/* Without a secret nothing is proved. */
	assert_int_equal(bench_check(bench, (struct assay_observation){0}), ASSAY_OUTCOME_WRONG_ANSWER);
	struct assay_str large = {arena_alloc(bench->arena, 3000000), 3000000};
	memset((char *)large.ptr, 'x', large.len);
	assert_int_equal(bench_check(bench, (struct assay_observation){.return_code = 1, .stderr_data = large}),
	                 ASSAY_OUTCOME_RUNTIME_ERROR);
}

static void test_prompt_is_the_row_s(void **state)
{
	struct bench *bench = *state;
	assert_int_equal(bench_ask_prompt(bench, ROW), 0);
	assert_view(bench->prompt, PROMPT);
}

#define test_here(test) cmocka_unit_test_setup_teardown(test, open_humaneval, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_here(test_completions),
	    test_here(test_chat_answers),
	    test_here(test_future_imports),
	    test_here(test_modes),
	    test_here(test_stops),
	    test_here(test_nothing_to_run),
	    test_here(test_rows_that_judge_nothing),
	    test_here(test_hostile_completions),
	    test_here(test_refusals_are_handed_on),
	    test_here(test_outcomes),
	    test_here(test_prompt_is_the_row_s),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
