/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "sys/child.h"
#include "sys/probe.h"
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define ROWS_MAX 40

struct rows {
	struct probe_row list[ROWS_MAX];
	size_t count;
};

static void keep(void *arg, const struct probe_row *row)
{
	struct rows *rows = arg;
	assert_true(rows->count < ROWS_MAX);
	rows->list[rows->count++] = *row;
}

static const struct probe_row *find(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->list[i].name, name) == 0)
			return &rows->list[i];
	return NULL;
}

static void test_every_row_says_something(void **state)
{
	(void)state;
	static struct rows rows;
	static const char *const names[] = {
	    "kernel",          "clone3 and pidfd", "openat2",    "close_range",     "proc",
	    "cgroup memory",   "cgroup pids",      "cgroup cpu", "user namespaces", "overlay",
	    "temporary files", "open files",       "processors"};
	rows.count = 0;
	probe_host("/tmp", keep, &rows);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!find(&rows, names[i]))
			fail_msg("no row '%s'", names[i]);
	for (size_t i = 0; i < rows.count; i++) {
		const struct probe_row *row = &rows.list[i];
		assert_true(*row->name && *row->value);
		assert_ptr_equal(find(&rows, row->name), row); /* no name twice */
		assert_true(strlen(row->missing) < sizeof(row->missing) - 1);
		assert_false(row->is_fatal && !*row->missing);
	}
	assert_false(find(&rows, "kernel")->is_fatal); /* this test runs */
	assert_true(atoi(find(&rows, "processors")->value) >= 1);
}

static void test_a_temp_folder_must_be_there(void **state)
{
	(void)state;
	static struct rows rows;
	static char long_path[3000];
	memset(long_path, 'x', sizeof(long_path) - 1);
	static const char *const paths[] = {"/does/not/exist", "/proc", "", long_path};
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		rows.count = 0;
		probe_host(paths[i], keep, &rows);
		const struct probe_row *row = find(&rows, "temporary files");
		assert_true(row && row->is_fatal);
		assert_contains(row->missing, "TMPDIR");
	}
}

/* In a mount namespace of its own. 0: as it should be; 2: no such namespace here. */
static int probe_noexec(const char *folder, unsigned long flags, bool *ret_is_missing)
{
	static struct rows rows;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("test", folder, "tmpfs", flags, NULL))
		return 2;
	rows.count = 0;
	probe_host(folder, keep, &rows);
	const struct probe_row *row = find(&rows, "temporary files");
	*ret_is_missing = row && *row->missing;
	return 0;
}

static void test_a_temp_folder_must_allow_exec(void **state)
{
	(void)state;
	char folder[] = "/tmp/unit-probe-XXXXXX";
	assert_non_null(mkdtemp(folder));
	static const struct {
		unsigned long flags;
		bool is_missing;
	} tries[] = {{0, false}, {MS_NOEXEC, true}, {MS_RDONLY, true}};
	bool is_skipped = false;
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		int pidfd = -1;
		struct child_exit ended = {.code = 2};
		pid_t pid = child_clone(CLONE_NEWNS, -1, &pidfd);
		if (pid == 0) {
			bool is_missing = false;
			int code = probe_noexec(folder, tries[i].flags, &is_missing);
			_exit(code ? code : is_missing != tries[i].is_missing);
		}
		if (pid > 0) {
			child_wait(pidfd, &ended);
			close(pidfd);
		}
		is_skipped |= ended.code == 2;
		if (ended.code != 2)
			assert_int_equal(ended.code, 0);
	}
	rmdir(folder);
	if (is_skipped) {
		print_message("skipped: mounts cannot be changed here\n");
		skip();
	}
}

static void test_nothing_is_left_behind(void **state)
{
	(void)state;
	static struct rows rows;
	char folder[] = "/tmp/unit-probe-XXXXXX";
	assert_non_null(mkdtemp(folder));
	rows.count = 0;
	probe_host(folder, keep, &rows);
	assert_int_equal(*find(&rows, "temporary files")->missing, 0);
	assert_int_equal(rmdir(folder), 0); /* it is empty */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_row_says_something),
	    cmocka_unit_test(test_a_temp_folder_must_be_there),
	    cmocka_unit_test(test_a_temp_folder_must_allow_exec),
	    cmocka_unit_test(test_nothing_is_left_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
