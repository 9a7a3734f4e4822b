/* SPDX-License-Identifier: Apache-2.0 */
/* The result file: appended to whole lines at a time, gone on with after a crash, never harmed when it is not ours. */
#include "temp.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include "batch/results.h"

static struct arena *arena;

static int set_up(void **state)
{
	arena = arena_new();
	return temp_make(state);
}

static int tear_down(void **state)
{
	arena_free(arena);
	return temp_remove(state);
}

struct seen {
	int count, accepted;
	char last_id[64], language[16];
};

static void note(void *arg, const struct result_line *line)
{
	struct seen *seen = arg;
	seen->count++;
	seen->accepted += line->outcome == ASSAY_OUTCOME_ACCEPTED;
	snprintf(seen->last_id, sizeof(seen->last_id), "%.*s", STR_ARG(line->id_text));
	snprintf(seen->language, sizeof(seen->language), "%.*s", STR_ARG(line->language));
}

#define LINE(id, sample) "{\"task_id\":" id ",\"sample\":" sample ",\"language\":\"c\",\"outcome\":\"accepted\"}\n"

static int write_line(struct results *results, const char *id, int64_t sample, const char *code,
                      struct assay_error *err)
{
	auto_json struct json_object *line = json_map();
	json_add_str(line, "task_id", str_of(id));
	json_add_int(line, "sample", sample);
	json_add(line, "language", NULL);
	json_add_str(line, "outcome", STR("accepted"));
	json_add_str(line, "extracted_code", str_of(code));
	return results_write(results, line, err);
}

static void test_write_then_resume(void **state)
{
	(void)state;
	const char *path = temp_path(arena, "new");
	struct results *results = NULL, *second = NULL;
	struct assay_error err = {0};
	struct seen seen = {0};
	assert_int_equal(results_open(path, false, NULL, NULL, &results, &err), 0);
	assert_int_equal(results_count(results), 0);
	assert_false(results_has(results, STR("a"), 0));
	assert_int_equal(write_line(results, "a", 0, "x\ny", &err), 0);
	assert_int_equal(write_line(results, "a", 700, "", &err), 0);
	assert_int_equal(write_line(results, "b\n", 0, "", &err), 0);
	assert_int_equal(results_open(path, true, NULL, NULL, &second, &err), ASSAY_INVALID); /* two writers */
	results_close(results);
	assert_int_equal(results_open(path, false, NULL, NULL, &results, &err), ASSAY_INVALID); /* not asked to go on */
	assert_int_equal(results_open(path, true, note, &seen, &results, &err), 0);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.last_id, "b\n");
	assert_string_equal(seen.language, "");
	assert_int_equal(results_count(results), 3);
	assert_true(results_has(results, STR("a"), 0) && results_has(results, STR("a"), 700));
	assert_true(results_has(results, STR("b\n"), 0));
	assert_false(results_has(results, STR("a"), 1) || results_has(results, STR("a"), 699));
	assert_false(results_has(results, STR("a"), 1000000) || results_has(results, STR("b"), 0));
	results_close(results);
	results_close(NULL);
}

/* What a killed run or a dead machine leaves, and what resuming makes of it. */
static void test_torn_ends(void **state)
{
	(void)state;
	static const struct {
		struct assay_str before, after;
		size_t count;
	} cases[] = {
	    {STR(LINE("1", "0") "{\"task_id\":2,\"sam"), STR(LINE("1", "0")), 1},
	    {STR(LINE("1", "0") "{\"task_id\":2,\"sam\n"), STR(LINE("1", "0")), 1}, /* with a line end all the same */
	    {STR(LINE("1", "0") "{\"task_id\":2,\"sam\n\n \n"), STR(LINE("1", "0")), 1},
	    {STR(LINE("1", "0") "\0\0\0\0\0"), STR(LINE("1", "0")), 1}, /* blocks that never reached the disk */
	    {STR(LINE("1", "0") "{"), STR(LINE("1", "0")), 1},
	    {STR("{\"task"), STR(""), 0},
	    {STR("{\"id\":1,\"sample\":0,\"outcome\":\"no_code\"}"), /* whole but for its end: stays */
	     STR("{\"id\":1,\"sample\":0,\"outcome\":\"no_code\"}\n"), 1},
	    {STR("\n\n" LINE("1", "0")), STR("\n\n" LINE("1", "0")), 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct results *results = NULL;
		struct assay_error err = {0};
		const char *path = temp_write(arena, "torn", cases[i].before);
		if (results_open(path, true, NULL, NULL, &results, &err))
			fail_msg("case %zu: %s", i, err.message);
		assert_int_equal(results_count(results), cases[i].count);
		assert_int_equal(write_line(results, "n", 0, "", &err), 0);
		results_close(results);
		struct assay_str text = temp_read(arena, path);
		assert_true(str_starts_with(text, cases[i].after));
		struct seen seen = {0};
		if (results_read(path, note, &seen, &err)) /* every line is whole again */
			fail_msg("case %zu: %s", i, err.message);
		assert_int_equal(seen.count, cases[i].count + 1);
	}
}

/* A file that is not ours, or damaged where no crash damages it, is refused and left byte for byte as it was. */
static void test_foreign_files(void **state)
{
	(void)state;
	static const struct {
		struct assay_str text;
		uint32_t line;
	} cases[] = {
	    {STR("precious notes"), 1},
	    {STR("precious notes\nwithout a last line end"), 1},
	    {STR(LINE("1", "0") "not json\n" LINE("2", "0")), 2},
	    {STR(LINE("1", "0") "{\"task_id\":2,\"sam" LINE("2", "0") LINE("3", "0")), 2},
	    {STR(LINE("1", "0") "trailing words"), 2},
	    {STR("{\"task_id\":\"a\",\"completion\":\"x\"}"), 1}, /* completions given as the output */
	    {STR("{\"a\": 1}\n"), 1},
	    {STR("[1,2]\n"), 1},
	    {STR("{}\n"), 1},
	    {STR("{\"task_id\":1,\"sample\":-1,\"outcome\":\"accepted\"}\n"), 1},
	    {STR("{\"task_id\":1,\"sample\":4611686018427387904,\"outcome\":\"accepted\"}\n"), 1},
	    {STR("{\"task_id\":1,\"sample\":\"0\",\"outcome\":\"accepted\"}\n"), 1},
	    {STR("{\"task_id\":1,\"sample\":0,\"outcome\":\"splendid\"}\n"), 1},
	    {STR("{\"task_id\":null,\"sample\":0,\"outcome\":\"accepted\"}\n"), 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct results *results = NULL;
		struct assay_error err = {0};
		const char *path = temp_write(arena, "foreign", cases[i].text);
		if (results_open(path, true, NULL, NULL, &results, &err) != ASSAY_INVALID || err.line != cases[i].line)
			fail_msg("case %zu: line %u: %s", i, err.line, err.message);
		assert_null(results);
		assert_true(str_equal(temp_read(arena, path), cases[i].text));
	}
}

static void test_compressed(void **state)
{
	(void)state;
	struct results *results = NULL;
	struct assay_error err = {0};
	struct seen seen = {0};
	const struct assay_str text = STR(LINE("1", "0") LINE("2", "0"));
	const char *path = temp_write_gzip(arena, "results.gz", text);
	struct assay_str before = temp_read(arena, path);
	assert_int_equal(results_read(path, note, &seen, &err), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(results_open(path, true, NULL, NULL, &results, &err), ASSAY_INVALID);
	assert_true(str_equal(temp_read(arena, path), before));
}

static void test_read(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct assay_error err = {0};
	const char *path = temp_write(
	    arena, "read",
	    STR("{\"id\":7,\"sample\":0,\"outcome\":\"infrastructure\",\"language\":null}\n\n"
	        "{\"problem\":\"p\",\"sample\":1,\"language\":\"go\",\"outcome\":\"accepted\"}\n" /* another name */
	        "{\"task_id\":\"t"));
	assert_int_equal(results_read(path, note, &seen, &err), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.accepted, 1);
	assert_string_equal(seen.last_id, "p");
	assert_string_equal(seen.language, "go");
	assert_true(results_read(temp_path(arena, "absent"), note, &seen, &err) < 0);
}

struct writer {
	struct results *results;
	int number;
};

static void *write_many(void *arg)
{
	const struct writer *writer = arg;
	char id[16], code[3000];
	memset(code, 'x', sizeof(code));
	code[sizeof(code) - 1] = 0;
	snprintf(id, sizeof(id), "w%d", writer->number);
	for (int i = 0; i < 200; i++)
		write_line(writer->results, id, i, code, NULL);
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	const char *path = temp_path(arena, "threads");
	struct results *results = NULL;
	struct writer writers[4];
	pthread_t threads[4];
	struct seen seen = {0};
	assert_int_equal(results_open(path, false, NULL, NULL, &results, NULL), 0);
	for (int i = 0; i < 4; i++) {
		writers[i] = (struct writer){results, i};
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	results_close(results);
	assert_int_equal(results_read(path, note, &seen, NULL), 0);
	assert_int_equal(seen.count, 800);
}

/* A file size limit stands for a full disk: the part of the line that fitted is taken back, what was reported stays. */
static void test_full(void **state)
{
	(void)state;
	const char *path = temp_path(arena, "full");
	struct results *results = NULL;
	struct assay_error err = {0};
	struct rlimit before, small = {700, 700};
	char code[400];
	memset(code, 'x', sizeof(code));
	code[sizeof(code) - 1] = 0;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(results_open(path, false, NULL, NULL, &results, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int first = write_line(results, "a", 0, code, &err), second = write_line(results, "a", 1, code, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(first, 0);
	assert_int_equal(second, ASSAY_SYSTEM);
	assert_int_equal(err.sys_errno, EFBIG);
	assert_int_equal(write_line(results, "a", 2, "", &err), ASSAY_SYSTEM); /* stays failed */
	results_close(results);
	struct assay_str text = temp_read(arena, path);
	assert_true(text.len > 400 && text.len < 700);
	assert_int_equal(text.ptr[text.len - 1], '\n');
	assert_int_equal(results_open(path, true, NULL, NULL, &results, NULL), 0);
	assert_int_equal(results_count(results), 1);
	assert_int_equal(write_line(results, "a", 1, code, NULL), 0);
	results_close(results);
}

static void test_cannot_open(void **state)
{
	(void)state;
	struct results *results = NULL;
	struct assay_error err = {0};
	assert_true(results_open(temp_path(arena, "no/folder"), false, NULL, NULL, &results, &err) < 0);
	assert_true(results_open(temp_folder, true, NULL, NULL, &results, &err) < 0);
	assert_int_equal(results_open("/dev/null", false, NULL, NULL, &results, &err),
	                 0); /* not every output is a file */
	assert_int_equal(write_line(results, "a", 0, "", &err), 0);
	results_close(results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_write_then_resume),
	    cmocka_unit_test(test_torn_ends),
	    cmocka_unit_test(test_foreign_files),
	    cmocka_unit_test(test_compressed),
	    cmocka_unit_test(test_read),
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_full),
	    cmocka_unit_test(test_cannot_open),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
