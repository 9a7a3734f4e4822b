/* SPDX-License-Identifier: Apache-2.0 */
/* The services table as a plugin sees it: nothing is absent, NULL is "absent", errors name their place. */
#include "support.h"
#include "data/yaml.h"
#include "plugin/host.h"

static const struct assay_host *const host = &host_services;

static void test_table_is_complete(void **state)
{
	(void)state;
	assert_int_equal(host->size, sizeof(*host));
	assert_int_equal(host->abi_major, ASSAY_ABI_MAJOR);
	assert_int_equal(host->abi_minor, ASSAY_ABI_MINOR);
	for (size_t at = offsetof(struct assay_host, log); at < sizeof(*host); at += sizeof(void *)) {
		void *service;
		memcpy(&service, (const char *)host + at, sizeof(service));
		assert_non_null(service);
	}
	/* Every member of ABI 1.0 is one that ASSAY_HAS finds. */
	assert_true(ASSAY_HAS(host, compare));
}

static void test_failing(void **state)
{
	struct folder *folder = *state;
	struct assay_error err = {0};
	const struct assay_node *root;
	assert_int_equal((host->fail)(&err, ASSAY_MISSING, ENOENT, "no %s", "ruby"), ASSAY_MISSING);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_string_equal(err.message, "no ruby");
	assert_int_equal((host->fail)(NULL, ASSAY_SYSTEM, 0, "x"), ASSAY_SYSTEM);
	assert_int_equal(yaml_parse(folder->arena, STR("a: 1\nb: {c: 2}\n"), "x.yaml", &root, NULL), 0);
	const struct assay_node *where = host->node_get(host->node_get(root, "b"), "c");
	assert_int_equal(host->fail_at(&err, where, "%d is too many", 2), ASSAY_INVALID);
	assert_string_equal(err.file, "x.yaml");
	assert_int_equal(err.line, 2);
	assert_int_equal(host->fail_at(&err, NULL, "nowhere"), ASSAY_INVALID);
	assert_int_equal(host->fail_at(NULL, where, "x"), ASSAY_INVALID);
}

static void test_absent_nodes(void **state)
{
	(void)state;
	struct assay_str text = STR("untouched");
	int64_t integer = 7;
	double real = 7;
	int truth = 7;
	assert_int_equal(host->node_kind(NULL), ASSAY_NODE_NULL);
	assert_int_equal(host->node_count(NULL), 0);
	assert_null(host->node_get(NULL, "a"));
	assert_null(host->node_at(NULL, 0));
	assert_int_equal(host->node_key(NULL, 0).len, 0);
	assert_int_equal(host->node_str(NULL, &text, NULL), ASSAY_INVALID);
	assert_int_equal(host->node_int(NULL, &integer, NULL), ASSAY_INVALID);
	assert_int_equal(host->node_real(NULL, &real, NULL), ASSAY_INVALID);
	assert_int_equal(host->node_bool(NULL, &truth, NULL), ASSAY_INVALID);
	assert_true(str_is(text, "untouched") && integer == 7 && truth == 7);
}

static void test_nodes(void **state)
{
	struct folder *folder = *state;
	struct assay_scope *scope = scope_of(folder->arena);
	const struct assay_node *root;
	struct assay_error err = {0};
	struct assay_str text;
	int64_t integer;
	double real;
	int truth = 7;
	assert_int_equal(host->node_parse(scope,
	                                  STR("{\"t\": \"a\\u0000b\", \"i\": -3, \"r\": 0.25, \"y\": true, "
	                                      "\"n\": false, \"l\": [1, null]}"),
	                                  &root, NULL),
	                 0);
	assert_int_equal(host->node_count(root), 6);
	assert_true(str_is(host->node_key(root, 1), "i"));
	assert_int_equal(host->node_str(host->node_get(root, "t"), &text, NULL), 0);
	assert_int_equal(text.len, 3);
	assert_int_equal(text.ptr[text.len], 0);
	assert_int_equal(host->node_int(host->node_get(root, "i"), &integer, NULL), 0);
	assert_int_equal(integer, -3);
	assert_int_equal(host->node_real(host->node_get(root, "r"), &real, NULL), 0);
	assert_true(real == 0.25);
	assert_int_equal(host->node_bool(host->node_get(root, "y"), &truth, NULL), 0);
	assert_int_equal(truth, 1);
	assert_int_equal(host->node_bool(host->node_get(root, "n"), &truth, NULL), 0);
	assert_int_equal(truth, 0);
	const struct assay_node *list = host->node_get(root, "l");
	assert_int_equal(host->node_count(list), 2);
	assert_null(host->node_at(list, 2));
	assert_int_equal(host->node_str(list, &text, &err), ASSAY_INVALID);
	assert_int_equal(host->node_parse(scope, STR("{\"a\": 1,}"), &root, &err), ASSAY_INVALID);
	assert_int_equal(host->node_parse(scope, STR(""), &root, &err), ASSAY_INVALID);
}

static void test_memory(void **state)
{
	struct folder *folder = *state;
	struct assay_scope *scope = scope_of(folder->arena);
	const char *zeroed = host->alloc(scope, 100000);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(zeroed[i], 0);
	assert_non_null(host->alloc(scope, 0));
	struct assay_str text = host->format(scope, "%s-%d", "a", 5);
	assert_string_equal(text.ptr, "a-5");
	assert_int_equal(text.len, 3);
}

static void test_nonces(void **state)
{
	struct folder *folder = *state;
	struct assay_scope *scope = scope_of(folder->arena);
	struct assay_str first = host->nonce(scope, 16), second = host->nonce(scope, 16);
	assert_int_equal(first.len, 32);
	assert_int_equal(strspn(first.ptr, "0123456789abcdef"), 32);
	assert_false(str_equal(first, second));
	assert_int_equal(host->nonce(scope, 0).len, 0);
	assert_int_equal(host->nonce(scope, 1000).len, 2000);
}

static void test_substitution(void **state)
{
	struct folder *folder = *state;
	struct assay_scope *scope = scope_of(folder->arena);
	static const struct assay_str pairs[][2] = {{{"a", 1}, {"1", 1}}, {{"b.c", 3}, {"${a}", 4}}};
	struct assay_str text;
	struct assay_error err = {0};
	assert_int_equal(host->substitute(scope, STR("x${a}y${b.c}$z$${a}"), pairs, 2, &text, NULL), 0);
	assert_string_equal(text.ptr, "x1y${a}$z${a}");
	assert_int_equal(host->substitute(scope, STR(""), pairs, 2, &text, NULL), 0);
	assert_string_equal(text.ptr, ""); /* NUL-terminated, also when empty */
	assert_int_equal(host->substitute(scope, STR("${nope}"), pairs, 2, &text, &err), ASSAY_INVALID);
	assert_holds(err.message, "nope");
	assert_int_equal(host->substitute(scope, STR("${a}"), NULL, 0, &text, &err), ASSAY_INVALID);
}

static void test_extraction(void **state)
{
	struct folder *folder = *state;
	struct assay_scope *scope = scope_of(folder->arena);
	struct assay_extraction found = {.size = sizeof(found)};
	assert_int_equal(host->extract(scope, STR("Here:\n```python\nprint(1)\n```\n"), STR("python"), &found, NULL),
	                 0);
	assert_string_equal(found.type, "fenced");
	assert_true(str_starts_with(found.code, STR("print(1)")));
	/* A caller of a time when the table was shorter: what lies behind it is not written to. */
	struct assay_extraction shorter = {.size = offsetof(struct assay_extraction, code), .code = STR("untouched")};
	assert_int_equal(host->extract(scope, STR("```\nx\n```"), STR(""), &shorter, NULL), 0);
	assert_true(str_is(shorter.code, "untouched"));
	assert_int_equal(shorter.size, offsetof(struct assay_extraction, code));
}

static void test_comparison(void **state)
{
	struct folder *folder = *state;
	struct assay_scope *scope = scope_of(folder->arena);
	struct assay_comparison how = {.size = sizeof(how)};
	struct assay_str difference = {0};
	struct assay_error err = {0};
	int is_equal = 7;
	assert_int_equal(host->compare(scope, &how, STR("1  2\n"), STR("1 2"), &is_equal, &difference, NULL), 0);
	assert_int_equal(is_equal, 1);
	assert_int_equal(host->compare(scope, &how, STR("1 3"), STR("1 2"), &is_equal, &difference, NULL), 0);
	assert_int_equal(is_equal, 0);
	assert_true(difference.len > 0 && !memchr(difference.ptr, '\n', difference.len));
	how.mode = STR("nearly");
	is_equal = 7;
	assert_int_equal(host->compare(scope, &how, STR(""), STR(""), &is_equal, &difference, &err), ASSAY_INVALID);
	assert_int_equal(is_equal, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table_is_complete),
	    test_in_folder(test_failing),
	    cmocka_unit_test(test_absent_nodes),
	    test_in_folder(test_nodes),
	    test_in_folder(test_memory),
	    test_in_folder(test_nonces),
	    test_in_folder(test_substitution),
	    test_in_folder(test_extraction),
	    test_in_folder(test_comparison),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
