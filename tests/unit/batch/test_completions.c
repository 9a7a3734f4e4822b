/* SPDX-License-Identifier: Apache-2.0 */
#include "temp.h"
#include "batch/completions.h"
#include "data/yaml.h"

static struct arena *arena;
static const struct assay_node *columns; /* of a dataset that calls its id "name" */

static int set_up(void **state)
{
	const struct assay_node *root = NULL;
	arena = arena_new();
	if (yaml_parse(arena, STR("id: [name]\n"), "columns", &root, NULL))
		return -1;
	columns = node_get(root, "id");
	return temp_make(state);
}

static int tear_down(void **state)
{
	arena_free(arena);
	return temp_remove(state);
}

static struct completions *opened(const char *text, int64_t shard, int64_t shard_count)
{
	struct completions *completions = NULL;
	const char *path = temp_write(arena, "completions", str_of(text));
	assert_int_equal(completions_open(path, columns, shard, shard_count, &completions, NULL), 0);
	return completions;
}

static void test_reads(void **state)
{
	(void)state;
	struct completions *completions =
	    opened("{\"task_id\": \"a\", \"completion\": \"x\\u0000y\", \"language\": \"cpp\", \"other\": [1]}\n\r\n"
	           "{\"id\": 7, \"completion\": \"\", \"language\": null}\r\n"
	           "{\"name\": \"n\", \"id\": \"uuid\", \"completion\": \"c\"}\n"
	           "{\"completion\": \"last\", \"task_id\": \"7\"}",
	           1, 1);
	struct completion got;
	assert_int_equal(completions_next(completions, arena, &got, NULL), 1);
	assert_true(str_is(got.id_column, "task_id") && str_is(got.id_text, "a") && got.sample == 0);
	assert_true(str_equal(got.completion, STR("x\0y")));
	assert_true(str_is(got.language, "cpp"));
	assert_int_equal(completions_next(completions, arena, &got, NULL), 1);
	assert_true(str_is(got.id_column, "id") && str_is(got.id_text, "7") && got.sample == 0);
	assert_int_equal(node_kind(got.id), ASSAY_NODE_INT); /* goes back as the number it came as */
	assert_true(got.completion.len == 0 && got.language.len == 0);
	assert_int_equal(completions_next(completions, arena, &got, NULL), 1);
	assert_true(str_is(got.id_column, "name") && str_is(got.id_text, "n")); /* the dataset's own name first */
	assert_int_equal(completions_next(completions, arena, &got, NULL), 1);
	assert_true(str_is(got.id_text, "7") && got.sample == 1); /* 7 and "7" are one task */
	assert_int_equal(completions_next(completions, arena, &got, NULL), 0);
	assert_int_equal(completions_next(completions, arena, &got, NULL), 0);
	completions_close(completions);
}

/* Shards share out the lines, and each knows a line's sample as a run over all would. */
static void test_shards(void **state)
{
	(void)state;
	auto_buffer struct buffer text = {0};
	bool seen[7][5] = {{false}};
	int total = 0;
	for (int i = 0; i < 35; i++)
		buffer_printf(&text, "%s{\"id\": %d, \"completion\": \"%d\"}\n", i % 4 ? "" : "\n", i % 7, i / 7);
	for (int shard = 1; shard <= 4; shard++) {
		struct completions *completions = opened(text.data, shard, 4);
		struct completion got;
		int count = 0;
		while (completions_next(completions, arena, &got, NULL) > 0) {
			int64_t id = got.id->value.integer;
			assert_int_equal(got.sample, got.completion.ptr[0] - '0');
			assert_false(seen[id][got.sample]);
			seen[id][got.sample] = true;
			count++;
		}
		assert_in_range(count, 8, 9);
		total += count;
		completions_close(completions);
	}
	assert_int_equal(total, 35);
}

static void test_refused(void **state)
{
	(void)state;
	static const struct {
		const char *line, *word;
	} bad[] = {
	    {"{\"completion\": \"x\"}", "id"},
	    {"{\"task_id\": \"a\"}", "completion"},
	    {"{\"task_id\": \"a\", \"generation\": \"x\"}", "completion"},
	    {"{\"task_id\": \"a\", \"completion\": null}", "text"},
	    {"{\"task_id\": \"a\", \"completion\": 5}", "text"},
	    {"{\"task_id\": \"a\", \"completion\": [\"x\"]}", "text"},
	    {"{\"task_id\": 1.5, \"completion\": \"x\"}", "id"},
	    {"{\"task_id\": {}, \"completion\": \"x\"}", "id"},
	    {"{\"task_id\": null, \"completion\": \"x\"}", "id"},
	    {"{\"task_id\": \"a\", \"completion\": \"x\", \"language\": 3}", "text"},
	    {"[]", "object"},
	    {"null", "object"},
	    {"{\"task_id\": \"a\", \"completion\": \"x\"", ""},
	    {"{\"task_id\": \"a\", \"completion\": \"x\"} {}", ""},
	    {"task_id,completion", ""},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct assay_error err = {0};
		struct completion got;
		const char *text = arena_printf(arena, "{\"id\": 1, \"completion\": \"\"}\n\n%s\n", bad[i].line).ptr;
		struct completions *completions = opened(text, 1, 1);
		assert_int_equal(completions_next(completions, arena, &got, &err), 1);
		if (completions_next(completions, arena, &got, &err) != ASSAY_INVALID || err.line != 3 ||
		    !strstr(err.message, bad[i].word) || !strstr(err.file, "completions"))
			fail_msg("%s -> %s:%u: %s", bad[i].line, err.file, err.line, err.message);
		completions_close(completions);
	}
}

static void test_open_and_progress(void **state)
{
	(void)state;
	struct completions *completions = NULL;
	struct assay_error err = {0};
	struct completion got;
	uint64_t before, after, size;
	assert_true(completions_open(temp_path(arena, "absent"), NULL, 1, 1, &completions, &err) < 0);
	completions_close(NULL);
	completions = opened("{\"id\": 1, \"completion\": \"\"}\n{\"id\": 2, \"completion\": \"\"}\n", 1, 1);
	completions_next(completions, arena, &got, NULL);
	completions_progress(completions, &before, &size);
	completions_next(completions, arena, &got, NULL);
	completions_progress(completions, &after, &size);
	assert_int_equal(before, 28); /* lines given out, not blocks read */
	assert_int_equal(after, 56);
	assert_int_equal(size, 56);
	completions_close(completions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reads),
	    cmocka_unit_test(test_shards),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_open_and_progress),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
