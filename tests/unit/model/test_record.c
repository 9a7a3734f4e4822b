/* SPDX-License-Identifier: Apache-2.0 */
/* Records as JSON: every key, cuts and replaced bytes told, exact bytes on request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "model/record.h"

static const struct assay_node *printed(struct arena *arena, const struct record *record,
                                        const struct record_json_options *options)
{
	auto_json struct json_object *map = record_json(record, options);
	auto_buffer struct buffer text = {0};
	const struct assay_node *root = NULL;
	struct assay_error err = {0};
	json_print(map, &text);
	assert_null(memchr(text.data, '\n', text.len)); /* a result stands on one line */
	assert_int_equal(utf8_valid_prefix(text.data, text.len), text.len);
	if (json_parse(arena, arena_copy(arena, buffer_str(&text)), "record", 1, &root, &err))
		fail_msg("%s", err.message);
	return root;
}

static struct assay_str text_of(const struct assay_node *node)
{
	struct assay_str text = {0};
	assert_int_equal(node_str(node, &text, NULL), 0);
	return text;
}

static bool bool_of(const struct assay_node *node)
{
	bool value = false;
	assert_int_equal(node_bool(node, &value, NULL), 0);
	return value;
}

static void fill(struct stream *stream, struct assay_str bytes)
{
	buffer_append_str(&stream->kept, bytes);
	stream->total_bytes = bytes.len;
}

static struct record make_record(void)
{
	return (struct record){.name = STR("3"), .language = "c", .isolation = "none", .has_run = true};
}

static void test_every_key(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct record record = make_record();
	protections_set(&record.protections, "memory", "cgroup-v1");
	record.run = (struct step_record){.status = STEP_SIGNALLED,
	                                  .return_code = -11,
	                                  .signal = 11,
	                                  .wall_ns = 1234567,
	                                  .cpu_ns = 987654,
	                                  .memory_peak_bytes = 4096,
	                                  .left_processes = 2};
	fill(&record.run.stdout_stream, STR("out\n"));
	const struct record_json_options options = {0};
	const struct assay_node *root = printed(arena, &record, &options), *run = node_get(root, "run");
	assert_true(str_is(text_of(node_get(root, "case")), "3"));
	assert_true(str_is(text_of(node_get(root, "language")), "c"));
	assert_true(str_is(text_of(node_get(root, "isolation")), "none"));
	assert_true(str_is(text_of(node_get(node_get(node_get(root, "box"), "protections"), "memory")), "cgroup-v1"));
	assert_non_null(node_get(root, "build"));
	assert_int_equal(node_kind(node_get(root, "build")), ASSAY_NODE_NULL);
	assert_true(str_is(text_of(node_get(run, "status")), "signalled"));
	assert_int_equal(node_get(run, "return_code")->value.integer, -11);
	assert_int_equal(node_get(run, "signal")->value.integer, 11);
	double ms = 0;
	assert_int_equal(node_real(node_get(run, "wall_ms"), &ms, NULL), 0);
	assert_true(ms > 1.23 && ms < 1.24);
	assert_int_equal(node_real(node_get(run, "cpu_ms"), &ms, NULL), 0);
	assert_true(ms > 0.98 && ms < 0.99);
	assert_int_equal(node_get(run, "memory_peak_bytes")->value.integer, 4096);
	assert_int_equal(node_get(run, "left_processes")->value.integer, 2);
	assert_int_equal(node_kind(node_get(run, "limit_hit")), ASSAY_NODE_NULL);
	assert_true(str_is(text_of(node_get(run, "stdout")), "out\n"));
	assert_int_equal(node_get(run, "stdout_bytes")->value.integer, 4);
	assert_int_equal(text_of(node_get(run, "stderr")).len, 0); /* a stream without bytes is empty text */
	assert_false(bool_of(node_get(run, "stdout_truncated")));
	assert_null(node_get(run, "stdout_replaced"));
	assert_null(node_get(run, "stdout_base64"));
	assert_null(node_get(run, "error"));
	step_record_free(&record.run);
}

static void test_limit_and_error(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	const struct record_json_options options = {0};
	struct record record = make_record();
	record.run =
	    (struct step_record){.status = STEP_TIME_LIMIT, .limit_hit = "cpu", .return_code = -9, .signal = 9};
	const struct assay_node *run = node_get(printed(arena, &record, &options), "run");
	assert_true(str_is(text_of(node_get(run, "limit_hit")), "cpu"));
	record.run = (struct step_record){.status = STEP_ERROR};
	error_set(&record.run.error, ASSAY_SYSTEM, ENOMEM, "no box");
	run = node_get(printed(arena, &record, &options), "run");
	assert_true(str_is(text_of(node_get(run, "status")), "error"));
	assert_int_equal(node_kind(node_get(run, "return_code")), ASSAY_NODE_NULL); /* never looks like an exit */
	assert_true(str_is(text_of(node_get(node_get(run, "error"), "status")), "system"));
	assert_true(str_find(text_of(node_get(node_get(run, "error"), "message")), STR("no box")) >= 0);
}

static void test_without_run(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	const struct record_json_options options = {0};
	const struct step_record build = {.status = STEP_FINISHED, .return_code = 1};
	struct record record = make_record();
	record.has_run = false;
	record.build = &build;
	const struct assay_node *root = printed(arena, &record, &options);
	assert_int_equal(node_kind(node_get(root, "run")), ASSAY_NODE_NULL);
	assert_int_equal(node_get(node_get(root, "build"), "return_code")->value.integer, 1);
}

/* A stream is cut between characters, by what was kept and by what is shown; base64 holds all that was kept. */
static void test_cuts(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct record record = make_record();
	fill(&record.run.stdout_stream, STR("ab\xE2\x82\xAC\xE2\x82\xAC")); /* "ab" and two euro signs */
	static const struct {
		size_t shown;
		const char *text;
		bool is_cut;
	} cases[] = {{0, "ab\xE2\x82\xAC\xE2\x82\xAC", false},
	             {8, "ab\xE2\x82\xAC\xE2\x82\xAC", false},
	             {7, "ab\xE2\x82\xAC", true},
	             {5, "ab\xE2\x82\xAC", true},
	             {4, "ab", true},
	             {3, "ab", true},
	             {1, "a", true}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct record_json_options options = {.output_bytes = cases[i].shown, .with_base64 = true};
		const struct assay_node *run = node_get(printed(arena, &record, &options), "run");
		assert_string_equal(text_of(node_get(run, "stdout")).ptr, cases[i].text);
		assert_int_equal(bool_of(node_get(run, "stdout_truncated")), cases[i].is_cut);
		assert_null(node_get(run, "stdout_replaced")); /* a cut is no damage */
		assert_true(str_is(text_of(node_get(run, "stdout_base64")), "YWLigqzigqw="));
		assert_int_equal(node_get(run, "stdout_bytes")->value.integer, 8);
	}
	/* Kept less than was written: the character that the limit split is left out. */
	record.run.stdout_stream.kept.len = 4;
	record.run.stdout_stream.total_bytes = 1000000;
	const struct record_json_options options = {0};
	const struct assay_node *run = node_get(printed(arena, &record, &options), "run");
	assert_string_equal(text_of(node_get(run, "stdout")).ptr, "ab");
	assert_true(bool_of(node_get(run, "stdout_truncated")));
	assert_int_equal(node_get(run, "stdout_bytes")->value.integer, 1000000);
	step_record_free(&record.run);
}

static void test_bytes_that_are_no_text(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct record record = make_record();
	fill(&record.run.stdout_stream, STR("a\0b\xFF"));
	fill(&record.run.stderr_stream, STR("\x1B[31m\x7F\xED\xA0\x80")); /* escape codes and a surrogate */
	const struct record_json_options options = {.with_base64 = true};
	const struct assay_node *run = node_get(printed(arena, &record, &options), "run");
	assert_true(str_equal(text_of(node_get(run, "stdout")), STR("a\0b\xEF\xBF\xBD")));
	assert_true(bool_of(node_get(run, "stdout_replaced")));
	assert_true(bool_of(node_get(run, "stderr_replaced")));
	assert_true(str_is(text_of(node_get(run, "stdout_base64")), "YQBi/w=="));
	assert_false(bool_of(node_get(run, "stdout_truncated")));
	step_record_free(&record.run);
}

static void test_record_free(void **state)
{
	(void)state;
	struct step_record record = {.status = STEP_SIGNALLED, .signal = 6}, zero;
	fill(&record.stdout_stream, STR("x"));
	fill(&record.mark_stream, STR("y"));
	memset(&zero, 0, sizeof(zero));
	step_record_free(&record);
	assert_memory_equal(&record, &zero, sizeof(zero));
	step_record_free(&record);
}

static void test_status_names(void **state)
{
	(void)state;
	assert_string_equal(step_status_name(STEP_FINISHED), "finished");
	assert_string_equal(step_status_name(STEP_ERROR), "error");
	assert_string_equal(step_status_name((enum step_status)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_key),
	    cmocka_unit_test(test_limit_and_error),
	    cmocka_unit_test(test_without_run),
	    cmocka_unit_test(test_cuts),
	    cmocka_unit_test(test_bytes_that_are_no_text),
	    cmocka_unit_test(test_record_free),
	    cmocka_unit_test(test_status_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
