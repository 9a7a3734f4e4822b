/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/str.h"
#include "data/json.h"
#include "model/verdict.h"

static void test_names_read_back(void **state)
{
	(void)state;
	for (int i = ASSAY_OUTCOME_NONE; i <= ASSAY_OUTCOME_INFRASTRUCTURE; i++) {
		enum assay_outcome outcome = (enum assay_outcome) - 1;
		assert_true(outcome_parse(str_of(outcome_name((enum assay_outcome)i)), &outcome));
		assert_int_equal(outcome, i);
	}
	static const char *const strange[] = {"", "Accepted", "accepted ", "accept", "unknown"};
	for (size_t i = 0; i < COUNT_OF(strange); i++) {
		enum assay_outcome outcome = ASSAY_OUTCOME_NO_CODE;
		assert_false(outcome_parse(str_of(strange[i]), &outcome));
		assert_int_equal(outcome, ASSAY_OUTCOME_NO_CODE); /* left alone */
	}
	assert_string_equal(outcome_name((enum assay_outcome)77), "unknown");
}

static void test_outcome_of_step(void **state)
{
	(void)state;
	static const struct {
		enum step_status status;
		enum assay_outcome outcome;
	} cases[] = {
	    {STEP_FINISHED, ASSAY_OUTCOME_NONE},
	    {STEP_TIME_LIMIT, ASSAY_OUTCOME_TIME_LIMIT},
	    {STEP_MEMORY_LIMIT, ASSAY_OUTCOME_MEMORY_LIMIT},
	    {STEP_OUTPUT_LIMIT, ASSAY_OUTCOME_OUTPUT_LIMIT},
	    {STEP_PROCESS_LIMIT, ASSAY_OUTCOME_RUNTIME_ERROR},
	    {STEP_SIGNALLED, ASSAY_OUTCOME_RUNTIME_ERROR},
	    {STEP_ERROR, ASSAY_OUTCOME_INFRASTRUCTURE},
	    {(enum step_status)99, ASSAY_OUTCOME_INFRASTRUCTURE}, /* what we do not know is never the program's fault */
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct step_record step = {.status = cases[i].status};
		assert_int_equal(outcome_of_step(&step), cases[i].outcome);
	}
}

static const struct assay_node *printed(struct arena *arena, const struct verdict *verdict)
{
	const struct record_json_options options = {0};
	auto_json struct json_object *map = json_map();
	auto_buffer struct buffer text = {0};
	const struct assay_node *root = NULL;
	verdict_json_add(map, verdict, &options);
	json_print(map, &text);
	assert_int_equal(json_parse(arena, arena_copy(arena, buffer_str(&text)), "verdict", 1, &root, NULL), 0);
	return root;
}

/* accepted is true, false, or null where nothing was judged; never false for a fault of Assay. */
static void test_accepted(void **state)
{
	(void)state;
	for (int i = ASSAY_OUTCOME_NONE; i <= ASSAY_OUTCOME_INFRASTRUCTURE; i++) {
		auto_arena struct arena *arena = arena_new();
		const struct verdict verdict = {.outcome = (enum assay_outcome)i};
		const struct assay_node *root = printed(arena, &verdict), *accepted = node_get(root, "accepted");
		bool value = false;
		assert_non_null(accepted);
		if (i == ASSAY_OUTCOME_NONE || i == ASSAY_OUTCOME_INFRASTRUCTURE) {
			assert_int_equal(node_kind(accepted), ASSAY_NODE_NULL);
		} else {
			assert_int_equal(node_bool(accepted, &value, NULL), 0);
			assert_int_equal(value, i == ASSAY_OUTCOME_ACCEPTED);
		}
		assert_int_equal(node_kind(node_get(root, "extracted_type")), ASSAY_NODE_NULL);
		assert_int_equal(node_kind(node_get(root, "tests")), ASSAY_NODE_LIST);
	}
}

static void test_tests(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct test_result tests[2] = {
	    {.outcome = ASSAY_OUTCOME_ACCEPTED,
	     .record = {.name = STR("1"), .language = "c", .isolation = "none", .has_run = true}},
	    {.outcome = ASSAY_OUTCOME_NONE, .record = {.name = STR("2"), .language = "c", .isolation = "none"}},
	};
	const struct verdict verdict = {.outcome = ASSAY_OUTCOME_WRONG_ANSWER,
	                                .detail = STR("line 1: \xFF"),
	                                .extracted_code = STR("int main(void) {}\n"),
	                                .extracted_type = "fenced",
	                                .tests = tests,
	                                .test_count = 2};
	const struct assay_node *root = printed(arena, &verdict), *list = node_get(root, "tests");
	struct assay_str text;
	assert_int_equal(node_count(list), 2);
	assert_int_equal(node_str(node_get(node_at(list, 0), "outcome"), &text, NULL), 0);
	assert_true(str_is(text, "accepted"));
	assert_int_equal(node_str(node_get(node_at(list, 1), "name"), &text, NULL), 0);
	assert_true(str_is(text, "2"));
	assert_int_equal(node_kind(node_get(node_get(node_at(list, 1), "record"), "run")), ASSAY_NODE_NULL);
	assert_int_equal(node_str(node_get(root, "detail"), &text, NULL), 0);
	assert_true(str_is(text, "line 1: \xEF\xBF\xBD"));
	assert_int_equal(node_str(node_get(root, "extracted_code"), &text, NULL), 0);
	assert_true(str_is(text, "int main(void) {}\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names_read_back),
	    cmocka_unit_test(test_outcome_of_step),
	    cmocka_unit_test(test_accepted),
	    cmocka_unit_test(test_tests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
