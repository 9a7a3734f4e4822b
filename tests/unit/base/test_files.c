/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "base/files.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* A folder "box" that a hostile program has written to, beside a file "outside" that must stay. */
static char temp[64];
static int temp_fd, box_fd;

static int set_up(void **state)
{
	(void)state;
	strcpy(temp, "/tmp/files-test-XXXXXX");
	if (!mkdtemp(temp))
		return -1;
	temp_fd = open(temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	box_fd = dir_make(temp_fd, "box", 0755, NULL);
	return box_fd < 0 ? -1 : file_write_beneath(temp_fd, STR("outside"), STR("secret"), 0644, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	int status = tree_remove(temp_fd, "box", NULL);
	struct stat st;
	status |= fstatat(temp_fd, "outside", &st, 0) || st.st_size != 6; /* whatever happened: still whole */
	close(box_fd);
	status |= unlinkat(temp_fd, "outside", 0);
	close(temp_fd);
	return status | rmdir(temp);
}

static void test_plain_paths(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b"};
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(path_is_plain(str_of(bad[i])));
	assert_false(path_is_plain(STR("a\0b")));
	assert_true(path_is_plain(STR("a/b..c/.d")));
	char longer[300];
	memset(longer, 'a', sizeof(longer));
	assert_false(path_is_plain((struct assay_str){longer, 256}));
	assert_true(path_is_plain((struct assay_str){longer, 255}));
}

static void test_write_and_read(void **state)
{
	(void)state;
	auto_buffer struct buffer text = {0};
	uint64_t size;
	struct stat st;
	assert_int_equal(file_write_beneath(box_fd, STR("a/b/c"), STR("0123456789"), 0755, NULL), 0);
	assert_int_not_equal(file_write_beneath(box_fd, STR("a/b/c"), STR("x"), 0644, NULL), 0);
	assert_int_equal(fstatat(box_fd, "a/b/c", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(file_read_beneath(box_fd, STR("a/b/c"), 4, &text, &size, NULL), 0);
	assert_string_equal(text.data, "0123");
	assert_int_equal(size, 10);
}

static void read_fails(const char *path, const char *reason)
{
	auto_buffer struct buffer text = {0};
	struct assay_error err = {0};
	char whole[ERROR_TEXT_MAX];
	assert_int_not_equal(file_read_beneath(box_fd, str_of(path), 100, &text, NULL, &err), 0);
	assert_contains(error_format(&err, whole, sizeof(whole)), reason);
	assert_int_equal(text.len, 0);
}

static void test_nothing_outside_is_read(void **state)
{
	(void)state;
	assert_int_equal(symlinkat("../outside", box_fd, "link"), 0);
	assert_int_equal(symlinkat("..", box_fd, "up"), 0);
	assert_int_equal(symlinkat("/proc/self/environ", box_fd, "environ"), 0);
	assert_int_equal(mkfifoat(box_fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(box_fd, "folder", 0700), 0);
	read_fails("link", "a symbolic link");
	read_fails("up/outside", "Too many levels of symbolic links");
	read_fails("environ", "a symbolic link");
	read_fails("../outside", "no plain relative path");
	read_fails("/etc/passwd", "no plain relative path");
	read_fails("fifo", "a FIFO");
	read_fails("folder", "a folder");
	read_fails("missing", "No such file");
	if (mknodat(box_fd, "device", S_IFCHR | 0666, makedev(1, 5)) == 0)
		read_fails("device", "a device");
	struct assay_error err = {0};
	assert_int_not_equal(file_write_beneath(box_fd, STR("up/new"), STR("x"), 0644, &err), 0);
	assert_int_not_equal(file_write_beneath(box_fd, STR("link"), STR("x"), 0644, &err), 0);
}

static void test_a_sparse_file_costs_what_is_read(void **state)
{
	(void)state;
	auto_buffer struct buffer text = {0};
	uint64_t size;
	int fd = openat(box_fd, "sparse", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, INT64_C(10) << 30), 0);
	close(fd);
	assert_int_equal(file_read_beneath(box_fd, STR("sparse"), 1000, &text, &size, NULL), 0);
	assert_int_equal(text.len, 1000);
	assert_int_equal(size, UINT64_C(10) << 30);
}

static void test_copy(void **state)
{
	(void)state;
	struct stat st;
	auto_buffer struct buffer text = {0};
	int from = dir_make(box_fd, "from", 0755, NULL), to = dir_make(box_fd, "to", 0755, NULL);
	assert_int_equal(file_write_beneath(from, STR("d/main"), STR("code"), 0755, NULL), 0);
	assert_int_equal(symlinkat("../../../outside", from, "link"), 0);
	assert_int_equal(mkfifoat(from, "fifo", 0600), 0);
	assert_int_equal(tree_copy(from, to, NULL), 0);
	assert_int_equal(file_read_beneath(to, STR("d/main"), 100, &text, NULL, NULL), 0);
	assert_string_equal(text.data, "code");
	assert_int_equal(fstatat(to, "d/main", &st, 0) == 0 ? st.st_mode & 0777 : 0, 0755);
	assert_int_equal(fstatat(to, "link", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode), 1);
	assert_int_not_equal(fstatat(to, "fifo", &st, AT_SYMLINK_NOFOLLOW), 0);
	uint64_t size;
	assert_int_equal(tree_size(to, &size, NULL), 0);
	assert_int_equal(size, 4);
	close(from);
	close(to);
}

static void test_deep_trees_are_removed(void **state)
{
	(void)state;
	int folder = dir_make(box_fd, "deep", 0755, NULL);
	for (int i = 0; i < 3000; i++) {
		int next = dir_make(folder, "d", 0755, NULL);
		assert_true(next >= 0);
		close(folder);
		folder = next;
	}
	close(folder);
	assert_int_equal(tree_remove(box_fd, "deep", NULL), 0);
	struct stat st;
	assert_int_not_equal(fstatat(box_fd, "deep", &st, 0), 0);
}

static void test_hostile_names_modes_and_links_are_removed(void **state)
{
	(void)state;
	int folder = dir_make(box_fd, "odd", 0755, NULL);
	static const char *const names[] = {"new\nline", "\xFF\xFE", "-rf", " ", ".gone-0", ".gone-1"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		int sub = dir_make(folder, names[i], 0755, NULL);
		assert_true(sub >= 0);
		close(dir_make(sub, ".gone-0", 0, NULL));
		assert_int_equal(symlinkat("../../../outside", sub, "l"), 0);
		assert_int_equal(fchmod(sub, 0), 0);
		close(sub);
	}
	assert_int_equal(symlinkat("/", folder, "root"), 0);
	close(folder);
	assert_int_equal(tree_remove(box_fd, "odd", NULL), 0);
	assert_int_equal(symlinkat("..", box_fd, "justlink"), 0);
	assert_int_equal(tree_remove(box_fd, "justlink", NULL), 0);
	assert_int_equal(tree_remove(box_fd, "never was", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_plain_paths, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_write_and_read, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_nothing_outside_is_read, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_a_sparse_file_costs_what_is_read, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_copy, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_deep_trees_are_removed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_hostile_names_modes_and_links_are_removed, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
