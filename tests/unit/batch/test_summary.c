/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "base/str.h"
#include "batch/summary.h"

static void add(struct summary *summary, const char *id, enum assay_outcome outcome, const char *language)
{
	summary_add(summary,
	            &(struct result_line){.id_text = str_of(id), .outcome = outcome, .language = str_of(language)});
}

static void add_many(struct summary *summary, const char *id, int passed, int failed)
{
	for (int i = 0; i < passed + failed; i++)
		add(summary, id, i < passed ? ASSAY_OUTCOME_ACCEPTED : ASSAY_OUTCOME_WRONG_ANSWER, "python");
}

static const struct assay_node *read_back(struct arena *arena, const struct summary *summary, const int64_t *ks)
{
	auto_json struct json_object *map = summary_json(summary, ks);
	auto_buffer struct buffer text = {0};
	const struct assay_node *root = NULL;
	json_print(map, &text);
	assert_int_equal(json_parse(arena, arena_copy(arena, buffer_str(&text)), "summary", 1, &root, NULL), 0);
	return root;
}

static double pass_at(const struct assay_node *root, const char *k)
{
	double value = -1;
	node_real(node_get(node_get(root, "pass_at_k"), k), &value, NULL);
	return value;
}

static void test_pass_at_k(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct summary *summary = summary_new();
	add_many(summary, "a", 3, 7);  /* 1 - C(7,5)/C(10,5) = 1 - 21/252 */
	add_many(summary, "b", 0, 12); /* 0 */
	const struct assay_node *root = read_back(arena, summary, NULL);
	assert_true(fabs(pass_at(root, "1") - 0.15) < 1e-12);
	assert_true(fabs(pass_at(root, "5") - (1 - 21.0 / 252) / 2) < 1e-12);
	assert_true(fabs(pass_at(root, "10") - 0.5) < 1e-12);
	assert_true(pass_at(root, "100") < 0); /* no task has as many samples */
	const int64_t ks[] = {2, 11, 0};
	root = read_back(arena, summary, ks);
	assert_true(fabs(pass_at(root, "2") - (1 - 21.0 / 45) / 2) < 1e-12);
	assert_true(pass_at(root, "11") < 0); /* "a" has only ten */
	assert_true(pass_at(root, "1") < 0);  /* was not asked for */
	summary_free(summary);
}

/* What Assay could not judge is no sample: neither a failure nor a pass. */
static void test_infrastructure_is_apart(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct summary *summary = summary_new();
	add(summary, "a", ASSAY_OUTCOME_ACCEPTED, "c");
	add(summary, "a", ASSAY_OUTCOME_INFRASTRUCTURE, "c");
	add(summary, "b", ASSAY_OUTCOME_INFRASTRUCTURE, "c");
	add(summary, "c", ASSAY_OUTCOME_NONE, "c");
	const struct assay_node *root = read_back(arena, summary, NULL);
	assert_true(fabs(pass_at(root, "1") - 1) < 1e-12);
	assert_int_equal(node_get(root, "tasks")->value.integer, 1);
	assert_int_equal(node_get(root, "results")->value.integer, 4);
	assert_int_equal(node_get(node_get(root, "outcomes"), "infrastructure")->value.integer, 2);
	assert_int_equal(summary_count(summary, ASSAY_OUTCOME_INFRASTRUCTURE), 2);
	assert_int_equal(summary_total(summary), 4);
	summary_free(summary);
}

static void test_empty(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	auto_buffer struct buffer text = {0};
	struct summary *summary = summary_new();
	const struct assay_node *root = read_back(arena, summary, NULL);
	assert_int_equal(node_count(node_get(root, "pass_at_k")), 0);
	summary_print(summary, NULL, &text);
	assert_null(strstr(text.data, "pass@"));
	assert_null(strstr(text.data, "nan"));
	summary_free(summary);
	summary_free(NULL);
}

static void test_languages(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	auto_buffer struct buffer one = {0}, two = {0};
	struct summary *summary = summary_new();
	add(summary, "a", ASSAY_OUTCOME_ACCEPTED, "cpp");
	add(summary, "b", ASSAY_OUTCOME_COMPILE_ERROR, "");
	summary_print(summary, NULL, &one);
	assert_null(strstr(one.data, "cpp")); /* one language says nothing that the whole does not */
	add(summary, "a", ASSAY_OUTCOME_WRONG_ANSWER, "go");
	summary_print(summary, NULL, &two);
	assert_non_null(strstr(two.data, "cpp"));
	assert_non_null(strstr(two.data, "go"));
	const struct assay_node *languages = node_get(read_back(arena, summary, NULL), "languages");
	assert_int_equal(node_count(languages), 2);
	assert_true(fabs(pass_at(node_get(languages, "cpp"), "1") - 1) < 1e-12);
	assert_true(fabs(pass_at(node_get(languages, "go"), "1")) < 1e-12);
	summary_free(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pass_at_k),
	    cmocka_unit_test(test_infrastructure_is_apart),
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_languages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
