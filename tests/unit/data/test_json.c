/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "data/json.h"
#include <math.h>

static const struct assay_node *parse(struct arena *arena, struct assay_str text)
{
	const struct assay_node *root = NULL;
	struct assay_error err = {0};
	if (json_parse(arena, text, "t.jsonl", 7, &root, &err))
		fail_msg("%s", err.message);
	return root;
}

static void test_values(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *root = parse(
	    arena,
	    STR(" {\"a\": [1, -2.5e1, true, null, \"x\\u0000\\u00e9\\n\"], \"\": {}, \"big\": 9223372036854775808} "));
	const struct assay_node *list = node_get(root, "a");
	int64_t integer;
	double real;
	struct assay_str text;
	assert_int_equal(node_count(list), 5);
	assert_int_equal(node_int(node_at(list, 0), &integer, NULL), 0);
	assert_int_equal(integer, 1);
	assert_int_equal(node_real(node_at(list, 1), &real, NULL), 0);
	assert_true(real == -25);
	assert_int_equal(node_kind(node_at(list, 3)), ASSAY_NODE_NULL);
	assert_int_equal(node_str(node_at(list, 4), &text, NULL), 0);
	assert_str(text, "x\0\xC3\xA9\n");
	assert_int_equal(node_kind(node_get(root, "")), ASSAY_NODE_MAP);
	assert_int_equal(node_kind(node_get(root, "big")), ASSAY_NODE_REAL);
	assert_int_equal(node_kind(parse(arena, STR("12"))), ASSAY_NODE_INT);
	assert_int_equal(node_kind(parse(arena, STR("-0.5"))), ASSAY_NODE_REAL);
	assert_int_equal(node_kind(parse(arena, STR("null"))), ASSAY_NODE_NULL);
	assert_int_equal(node_int(parse(arena, STR("-9223372036854775808")), &integer, NULL), 0);
	assert_true(integer == INT64_MIN);
	/* A lone surrogate, which Python writes for odd completions, is replaced. */
	assert_int_equal(node_str(parse(arena, STR("\"\\ud800\"")), &text, NULL), 0);
	assert_str(text, "\xEF\xBF\xBD");
}

static void test_what_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "",
	    " ",
	    "{",
	    "[1,",
	    "{\"a\":1,}",
	    "[1,]",
	    "{a:1}",
	    "'a'",
	    "NaN",
	    "Infinity",
	    "-Infinity",
	    "[nan]",
	    "1.",
	    "[1.]",
	    "1.e5",
	    ".5",
	    "+1",
	    "01",
	    "tru",
	    "True",
	    "nul",
	    "{} {}",
	    "1 2",
	    "[1] x",
	    "{\"a\":1 \"b\":2}",
	    "{\"a\" 1}",
	    "\"a",
	    "\"\t\"",
	    "\"\n\"",
	    "\"\\x41\"",
	    "\"\xFF\"",
	    "\"\xC0\xAF\"",
	    "\"\xED\xA0\x80\"",
	    "/* c */ 1",
	    "1 // c",
	    "{\"a\":1,\"a\":2}",
	    "{\"x\":{\"b\":1,\"b\":1}}",
	    "{\"a\\u0000b\":1}",
	    "100000000000000000000",
	    "1e999x",
	    "[1]]",
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		auto_arena struct arena *arena = arena_new();
		const struct assay_node *root;
		struct assay_error err = {0};
		char text[ERROR_TEXT_MAX];
		if (json_parse(arena, str_of(bad[i]), "t.jsonl", 7, &root, &err) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err.status, ASSAY_INVALID);
		assert_memory_equal(error_format(&err, text, sizeof(text)), "t.jsonl:7: ", 11);
	}
}

static void test_depth(void **state)
{
	(void)state;
	for (size_t depth = 60; depth < 70; depth += 9) { /* 60 and 69 */
		auto_arena struct arena *arena = arena_new();
		auto_buffer struct buffer text = {0};
		const struct assay_node *root;
		for (size_t i = 0; i < depth; i++)
			buffer_append_char(&text, '[');
		for (size_t i = 0; i < depth; i++)
			buffer_append_char(&text, ']');
		assert_int_equal(json_parse(arena, buffer_str(&text), "t", 1, &root, NULL) == 0, depth == 60);
	}
}

static void test_errors_name_the_path(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *root = parse(arena, STR("{\"tests\": [{}, {\"input\": {\"stdin\": 5}}]}"));
	const struct assay_node *value = node_get(node_get(node_at(node_get(root, "tests"), 1), "input"), "stdin");
	struct assay_error err = {0};
	struct assay_str text;
	char whole[ERROR_TEXT_MAX];
	assert_int_not_equal(node_str(value, &text, &err), 0);
	assert_string_equal(error_format(&err, whole, sizeof(whole)),
	                    "t.jsonl:7: tests[1].input.stdin: this is a whole number, not text");
	node_error(&err, root, "x");
	assert_string_equal(error_format(&err, whole, sizeof(whole)), "t.jsonl:7: $: x");
}

static void test_output(void **state)
{
	(void)state;
	auto_json struct json_object *map = json_map();
	auto_buffer struct buffer out = {0};
	json_add_int(map, "i", INT64_MIN);
	json_add_real(map, "r", 0.1);
	json_add_real(map, "n", (double)NAN);
	json_add_bool(map, "b", true);
	assert_true(json_add_str(map, "bad", STR("a\xFF/")));
	assert_false(json_add_str(map, "nul", STR("a\0b")));
	json_add(map, "none", NULL);
	json_print(map, &out);
	assert_string_equal(out.data,
	                    "{\"i\":-9223372036854775808,\"r\":0.1,\"n\":null,\"b\":true,\"bad\":\"a\xEF\xBF\xBD/\","
	                    "\"nul\":\"a\\u0000b\",\"none\":null}");
	/* What is printed reads back the same. */
	auto_arena struct arena *arena = arena_new();
	auto_json struct json_object *again = json_of_node(parse(arena, buffer_str(&out)));
	auto_buffer struct buffer second = {0};
	json_print(again, &second);
	assert_string_equal(second.data, out.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values), cmocka_unit_test(test_what_is_refused),
	    cmocka_unit_test(test_depth),  cmocka_unit_test(test_errors_name_the_path),
	    cmocka_unit_test(test_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
