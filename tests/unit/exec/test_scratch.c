/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "base/files.h"
#include <sys/stat.h>
#include <sys/wait.h>

/* All of this in a temp folder of its own, so that no other instance is seen. */
static char temp[] = "/tmp/scratch-test-XXXXXX";

static int open_temp(void **state)
{
	(void)state;
	return mkdtemp(temp) && setenv("TMPDIR", temp, 1) == 0 ? 0 : -1;
}

static int close_temp(void **state)
{
	(void)state;
	return rmdir(temp);
}

static int count_entries(void)
{
	int count = 0;
	auto_closedir DIR *dir = opendir(temp);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	return count;
}

static void test_made_and_removed(void **state)
{
	(void)state;
	struct scratch scratch;
	struct workspace workspace;
	const struct plan_file files[] = {{.path = STR("a/b/c.txt"), .content = STR("text"), .mode = 0644}};
	assert_int_equal(scratch_open(&scratch, NULL), 0);
	assert_int_equal(workspace_make(&scratch, &workspace, NULL), 0);
	assert_int_equal(workspace_fill(&workspace, files, 1, NULL), 0);
	assert_int_not_equal(workspace_fill(&workspace, files, 1, NULL), 0); /* never over what is there */
	workspace_remove(&workspace);
	workspace_remove(&workspace);
	scratch_close(&scratch);
	assert_int_equal(count_entries(), 0);
}

static void test_sweep_takes_the_dead_and_leaves_the_living(void **state)
{
	(void)state;
	struct scratch living, next;
	struct workspace workspace;
	assert_int_equal(scratch_open(&living, NULL), 0);
	pid_t pid = fork();
	if (pid == 0) { /* dies without closing */
		struct scratch dead;
		_exit(scratch_open(&dead, NULL) || workspace_make(&dead, &workspace, NULL) ? 1 : 0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(count_entries(), 2);
	assert_int_equal(scratch_open(&next, NULL), 0);
	assert_int_equal(count_entries(), 2); /* the living one and the new one */
	assert_int_equal(workspace_make(&living, &workspace, NULL), 0);
	workspace_remove(&workspace);
	scratch_close(&living);
	scratch_close(&next);
	assert_int_equal(count_entries(), 0);
}

/* Names that only look like ours, and things of other kinds, stay. */
static void test_sweep_leaves_what_is_not_ours(void **state)
{
	(void)state;
	struct scratch scratch;
	char path[128];
	static const char *const names[] = {"assay-notes", "assay-0123456789ab", "assay-xyz"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", temp, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	assert_int_equal(scratch_open(&scratch, NULL), 0);
	scratch_close(&scratch);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", temp, names[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_made_and_removed),
	    cmocka_unit_test(test_sweep_takes_the_dead_and_leaves_the_living),
	    cmocka_unit_test(test_sweep_leaves_what_is_not_ours),
	};
	return cmocka_run_group_tests(tests, open_temp, close_temp);
}
