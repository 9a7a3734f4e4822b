/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/str.h"
#include "data/json.h"
#include "model/plan.h"

static void test_protections_set(void **state)
{
	(void)state;
	static char names[PROTECTIONS_MAX + 1][16];
	struct protections protections = {0};
	for (size_t i = 0; i <= PROTECTIONS_MAX; i++)
		snprintf(names[i], sizeof(names[i]), "p%zu", i);
	for (size_t i = 0; i < PROTECTIONS_MAX; i++)
		assert_true(protections_set(&protections, names[i], "none"));
	assert_false(protections_set(&protections, names[PROTECTIONS_MAX], "none")); /* full */
	assert_true(protections_set(&protections, "p3", "rlimit"));                  /* replaces, by content */
	assert_int_equal(protections.count, PROTECTIONS_MAX);
	assert_string_equal(protections.items[3].mechanism, "rlimit");
	assert_string_equal(protections.items[2].mechanism, "none");
}

static const struct assay_node *printed(struct arena *arena, const struct plan *plan)
{
	auto_json struct json_object *map = plan_json(plan);
	auto_buffer struct buffer text = {0};
	const struct assay_node *root = NULL;
	struct assay_error err = {0};
	json_print(map, &text);
	if (json_parse(arena, arena_copy(arena, buffer_str(&text)), "plan", 1, &root, &err))
		fail_msg("%s", err.message);
	return root;
}

static void assert_text(const struct assay_node *node, const char *expected)
{
	struct assay_str text = {0};
	assert_int_equal(node_str(node, &text, NULL), 0);
	assert_string_equal(text.ptr, expected);
}

static void test_json(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	static const char *const argv[] = {"gcc", "-o", "main", "main.c", NULL}, *const env[] = {"A=b", NULL};
	struct plan_file files[] = {{STR("main.c"), STR("int main;"), 0644}, {STR("sub/run.sh"), STR(""), 0755}};
	struct plan plan = {.language = "c",
	                    .files = files,
	                    .file_count = 2,
	                    .run = {.argv = argv, .env = env, .limits = limits_default},
	                    .box = {.isolation = "none", .has_identity = true, .uid = 65534, .gid = 65533}};
	protections_set(&plan.box.protections, "memory", "cgroup-v1");
	const struct assay_node *root = printed(arena, &plan);
	assert_text(node_get(root, "language"), "c");
	assert_int_equal(node_count(node_get(root, "files")), 2);
	assert_text(node_get(node_at(node_get(root, "files"), 0), "mode"), "0644");
	assert_text(node_get(node_at(node_get(root, "files"), 1), "path"), "sub/run.sh");
	assert_int_equal(node_kind(node_get(root, "build")), ASSAY_NODE_NULL);
	const struct assay_node *run = node_get(root, "run"), *box = node_get(root, "box");
	assert_int_equal(node_count(node_get(run, "argv")), 4);
	assert_text(node_at(node_get(run, "argv"), 3), "main.c");
	assert_text(node_at(node_get(run, "env"), 0), "A=b");
	assert_text(node_get(node_get(run, "limits"), "cpu"), "10s");
	assert_int_equal(node_get(box, "uid")->value.integer, 65534);
	assert_text(node_get(node_get(box, "protections"), "memory"), "cgroup-v1");
	plan.box.has_identity = false;
	assert_null(node_get(node_get(printed(arena, &plan), "box"), "uid"));
}

/* A source's bytes are a caller's: an argument or a name that is not UTF-8 must not break the document. */
static void test_json_of_hostile_bytes(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	static const char *const argv[] = {"./\xFF", "", NULL}, *const env[] = {NULL};
	struct plan_file files[] = {{STR("\xC3(\n\"\\"), STR("\0\xFF"), 0644}};
	const struct plan plan = {.language = "c",
	                          .files = files,
	                          .file_count = 1,
	                          .run = {.argv = argv, .env = env, .limits = limits_default},
	                          .box = {.isolation = "none"}};
	const struct assay_node *root = printed(arena, &plan);
	assert_text(node_at(node_get(node_get(root, "run"), "argv"), 0), "./\xEF\xBF\xBD");
	assert_text(node_get(node_at(node_get(root, "files"), 0), "path"), "\xEF\xBF\xBD(\n\"\\");
	assert_int_equal(node_get(node_at(node_get(root, "files"), 0), "bytes")->value.integer, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_protections_set),
	    cmocka_unit_test(test_json),
	    cmocka_unit_test(test_json_of_hostile_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
