/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by number and by id, the same from a plain file, a compressed one and a pipe. */
#include "temp.h"
#include <pthread.h>
#include <sys/stat.h>
#include "batch/rows.h"
#include "data/yaml.h"

static struct arena *arena;
static struct plugin plugin;
static const struct dataset dataset = {.plugin = &plugin};

static int set_up(void **state)
{
	const struct assay_node *columns = NULL;
	arena = arena_new();
	int status = yaml_parse(arena, STR("id: [task_id, name]\nrequired: [task_id]\n"), "columns", &columns, NULL);
	plugin.descriptor.columns = columns;
	plugin.name = "test";
	return status ? status : temp_make(state);
}

static int tear_down(void **state)
{
	arena_free(arena);
	return temp_remove(state);
}

static int64_t value_of(const struct rows *rows, const char *id)
{
	auto_arena struct arena *own = arena_new();
	const struct assay_node *row;
	struct assay_error err = {0};
	size_t index;
	if (!rows_find(rows, str_of(id), &index))
		return -1;
	if (rows_parse(rows, index, own, &row, &err))
		fail_msg("%s", err.message);
	return node_get(row, "v")->value.integer;
}

/* Blank lines, Windows line ends, blanks around, a byte order mark, no end of the last line. */
#define AWKWARD                                                                                                        \
	"\xEF\xBB\xBF{\"task_id\": \"a\", \"v\": 1}\r\n\n  \t\n  {\"task_id\": 4, \"v\": 2}  \n\r\n"                   \
	"{\"name\": \"\xC3\xA9\", \"v\": 3}\n{\"task_id\": \"\", \"v\": 4}"

static void check_awkward(const char *path)
{
	struct rows *rows = NULL;
	struct assay_error err = {0};
	if (rows_open(path, &rows, &err) || rows_index(rows, &dataset, &err))
		fail_msg("%s: %s", path, err.message);
	assert_int_equal(rows_count(rows), 4);
	assert_int_equal(value_of(rows, "a"), 1);
	assert_int_equal(value_of(rows, "4"), 2); /* a number is found by its text */
	assert_int_equal(value_of(rows, "\xC3\xA9"), 3);
	assert_int_equal(value_of(rows, ""), 4);
	assert_int_equal(value_of(rows, "04"), -1);
	assert_int_equal(value_of(rows, "b"), -1);
	rows_close(rows);
}

static void *feed(void *path)
{
	FILE *pipe = fopen(path, "we");
	if (pipe) {
		fwrite(AWKWARD, 1, sizeof(AWKWARD) - 1, pipe);
		fclose(pipe);
	}
	return NULL;
}

static void test_every_form(void **state)
{
	(void)state;
	check_awkward(temp_write(arena, "plain", STR(AWKWARD)));
	check_awkward(temp_write_gzip(arena, "packed", STR(AWKWARD)));
	check_awkward(temp_write_zstd(arena, "packed2", STR(AWKWARD)));
	char *path = strdup(temp_path(arena, "pipe"));
	pthread_t thread;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&thread, NULL, feed, path), 0);
	check_awkward(path);
	pthread_join(thread, NULL);
	free(path);
}

/* More than a block of the reader, so that rows begin anywhere in it. */
static void test_many(void **state)
{
	(void)state;
	auto_buffer struct buffer text = {0};
	for (int i = 0; i < 20000; i++)
		buffer_printf(&text, "{\"task_id\": \"T/%d\", \"v\": %d, \"pad\": \"%.*s\"}%s\n", i, i, i % 50,
		              "..................................................", i % 3 ? "" : "\r");
	const char *paths[] = {temp_write(arena, "many", buffer_str(&text)),
	                       temp_write_gzip(arena, "many.gz", buffer_str(&text))};
	for (size_t k = 0; k < COUNT_OF(paths); k++) {
		struct rows *rows = NULL;
		assert_int_equal(rows_open(paths[k], &rows, NULL), 0);
		assert_int_equal(rows_index(rows, &dataset, NULL), 0);
		assert_int_equal(rows_count(rows), 20000);
		for (int i = 0; i < 20000; i += 37) {
			char id[16];
			snprintf(id, sizeof(id), "T/%d", i);
			assert_int_equal(value_of(rows, id), i);
		}
		rows_close(rows);
	}
}

static void assert_refused(const char *text, uint32_t line, const char *word)
{
	struct rows *rows = NULL;
	struct assay_error err = {0};
	int status = rows_open(temp_write(arena, "bad", str_of(text)), &rows, &err);
	if (status == 0)
		status = rows_index(rows, &dataset, &err);
	rows_close(rows);
	if (status != ASSAY_INVALID || err.line != line || !strstr(err.message, word))
		fail_msg("%s -> status %d, line %u: %s", text, status, err.line, err.message);
}

static void test_refused(void **state)
{
	(void)state;
	assert_refused("", 0, "no rows");
	assert_refused("\n \n\n", 0, "no rows");
	assert_refused("{\"task_id\": 1}\n\n{\"task_id\": 2}\n{\"task_id\": \"1\"}\n", 4, "line 1"); /* names both */
	assert_refused("{\"task_id\": 1}\n{\"task_id\": \n", 2, "");
	assert_refused("{\"task_id\": 1}\n[1]\n", 2, "object");
	assert_refused("{\"task_id\": 1}\n{\"id\": 3}\n", 2, "no id");
	assert_refused("{\"task_id\": 1.5}\n", 1, "id");
	assert_refused("{\"task_id\": null}\n", 1, "id");
	assert_refused("{\"task_id\": true}\n", 1, "id");
	assert_refused("{\"task_id\": \"a\", \"task_id\": \"b\"}\n", 1, "");
	assert_refused("{\"task_id\": \"\xFF\"}\n", 1, "");
}

static void test_cannot_open(void **state)
{
	(void)state;
	struct rows *rows = NULL;
	struct assay_error err = {0};
	assert_true(rows_open(temp_path(arena, "absent"), &rows, &err) < 0);
	assert_true(rows_open(temp_folder, &rows, &err) < 0); /* a folder */
	assert_null(rows);
	rows_close(NULL);
}

/* A file that is changed while in use gives an error, never another row's data in silence. */
static void test_file_gets_shorter(void **state)
{
	(void)state;
	struct rows *rows = NULL;
	struct assay_error err = {0};
	const struct assay_node *row;
	const char *path = temp_write(arena, "short", STR("{\"task_id\": 1}\n{\"task_id\": 2}\n"));
	assert_int_equal(rows_open(path, &rows, &err), 0);
	assert_int_equal(truncate(path, 20), 0);
	assert_int_equal(rows_parse(rows, 0, arena, &row, &err), 0);
	assert_int_equal(rows_parse(rows, 1, arena, &row, &err), ASSAY_INVALID);
	assert_int_equal(err.line, 2);
	rows_close(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_form),        cmocka_unit_test(test_many),
	    cmocka_unit_test(test_refused),           cmocka_unit_test(test_cannot_open),
	    cmocka_unit_test(test_file_gets_shorter),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
