/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "data/yaml.h"

static int parse(struct arena *arena, struct assay_str text, const struct assay_node **ret, struct assay_error *err)
{
	return yaml_parse(arena, text, "t.yaml", ret, err);
}

static void test_values_know_their_place(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *root;
	struct assay_str text;
	int64_t number, ns;
	bool truth;
	assert_int_equal(
	    parse(arena, STR("a: text\nb:\n  - 7\n  - '7'\nc: {d: true, e: 10s, f: ~, g: }\n"), &root, NULL), 0);
	assert_int_equal(node_count(root), 3);
	assert_int_equal(node_str(node_get(root, "a"), &text, NULL), 0);
	assert_str(text, "text");
	const struct assay_node *list = node_get(root, "b");
	assert_int_equal(node_int(node_at(list, 0), &number, NULL), 0);
	assert_int_equal(number, 7);
	assert_int_not_equal(node_int(node_at(list, 1), &number, NULL), 0); /* quoted: text */
	assert_int_equal(node_at(list, 1)->line, 4);
	assert_int_equal(node_at(list, 1)->column, 5);
	const struct assay_node *map = node_get(root, "c");
	assert_int_equal(node_bool(node_get(map, "d"), &truth, NULL), 0);
	assert_true(truth);
	assert_int_equal(node_duration(node_get(map, "e"), &ns, NULL), 0);
	assert_int_equal(ns, INT64_C(10000000000));
	assert_int_equal(node_kind(node_get(map, "f")), ASSAY_NODE_NULL);
	assert_int_equal(node_kind(node_get(map, "g")), ASSAY_NODE_NULL);
	assert_null(node_get(map, "z"));
}

static void test_what_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *where, *what;
	} rows[] = {
	    {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: ", "the key 'a' stands here twice; the first is on line 1"},
	    {"a: &x 1\n", "t.yaml:1:4: ", "anchors and tags"},
	    {"a: 1\nb: *a\n", "t.yaml:2:4: ", "aliases"},
	    {"a: !!int 1\n", "t.yaml:1:4: ", "anchors and tags"},
	    {"a: 1\n---\nb: 2\n", "t.yaml:2:1: ", "only one document"},
	    {"- a\n", "t.yaml:1:1: ", "must hold a map"},
	    {"", "t.yaml:1:1: ", "must hold a map"},
	    {"a: [1\nb: 2\n", "t.yaml:2:", ""},
	    {"a: \"x\\0y\"\n", "t.yaml:1:4: ", "NUL"},
	    {"? [a]\n: b\n", "t.yaml:1:", "a key must be text"},
	    {"a: 1\nb: \xFF\n", "t.yaml:2:4: ", ""},
	    {"a:\n\t- b\n", "t.yaml:2:1: ", ""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		auto_arena struct arena *arena = arena_new();
		const struct assay_node *root;
		struct assay_error err = {0};
		char text[ERROR_TEXT_MAX];
		assert_int_equal(parse(arena, str_of(rows[i].text), &root, &err), ASSAY_INVALID);
		error_format(&err, text, sizeof(text));
		if (strncmp(text, rows[i].where, strlen(rows[i].where)) || !strstr(text, rows[i].what))
			fail_msg("row %zu says: %s", i, text);
	}
}

/* Each of these costs libyaml alone seconds or gigabytes. */
static void test_bombs_are_cheap(void **state)
{
	(void)state;
	static const char *const units[] = {"[", "{a: ", "- ", "a:\n "};
	for (size_t i = 0; i < COUNT_OF(units); i++) {
		auto_arena struct arena *arena = arena_new();
		auto_buffer struct buffer text = {0};
		const struct assay_node *root;
		buffer_append(&text, "a: ", 3);
		while (text.len < 500000)
			buffer_append_str(&text, str_of(units[i]));
		struct assay_error err = {0};
		assert_int_not_equal(parse(arena, buffer_str(&text), &root, &err), 0);
	}
	auto_arena struct arena *arena = arena_new();
	auto_buffer struct buffer many = {0};
	const struct assay_node *root;
	struct assay_error err = {0};
	buffer_append(&many, "a: [", 4);
	for (int i = 0; i < 60000; i++)
		buffer_append(&many, "1,", 2);
	buffer_append(&many, "1]\n", 3);
	assert_int_not_equal(parse(arena, buffer_str(&many), &root, &err), 0);
	assert_contains(err.message, "50,000");
	char *huge = xmalloc((1 << 20) + 1);
	memset(huge, ' ', (1 << 20) + 1);
	assert_int_not_equal(parse(arena, (struct assay_str){huge, (1 << 20) + 1}, &root, &err), 0);
	free(huge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_know_their_place),
	                                   cmocka_unit_test(test_what_is_refused),
	                                   cmocka_unit_test(test_bombs_are_cheap)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
