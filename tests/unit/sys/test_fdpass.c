/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "sys/fdpass.h"
#include <fcntl.h>

static int count_open(void)
{
	int count = 0;
	auto_closedir DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir))
		count++;
	return count;
}

static void test_descriptors_arrive(void **state)
{
	(void)state;
	int before = count_open(), ends[2], sent[FDPASS_MAX], received[FDPASS_MAX];
	assert_int_equal(fdpass_pair(ends), 0);
	static const size_t counts[] = {0, 1, FDPASS_MAX};
	for (size_t k = 0; k < COUNT_OF(counts); k++) {
		char bytes[8];
		size_t count = FDPASS_MAX;
		for (size_t i = 0; i < counts[k]; i++)
			sent[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		assert_int_equal(fdpass_send(ends[0], "hello", 5, sent, counts[k]), 0);
		assert_int_equal(fdpass_receive(ends[1], bytes, sizeof(bytes), received, &count), 5);
		assert_memory_equal(bytes, "hello", 5);
		assert_int_equal(count, counts[k]);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(fcntl(received[i], F_GETFD), FD_CLOEXEC);
			close(received[i]);
			close(sent[i]);
		}
	}
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(count_open(), before);
}

static void test_what_does_not_fit_leaves_nothing_open(void **state)
{
	(void)state;
	int ends[2], null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), received[2];
	const int sent[] = {null_fd, null_fd, null_fd};
	char bytes[8];
	assert_int_equal(fdpass_pair(ends), 0);
	int before = count_open();
	size_t count = 2;
	assert_int_equal(fdpass_send(ends[0], "x", 1, sent, 3), 0);
	assert_int_equal(fdpass_receive(ends[1], bytes, sizeof(bytes), received, &count), -1);
	assert_int_equal(errno, EMSGSIZE);
	count = 2;
	assert_int_equal(fdpass_send(ends[0], "0123456789", 10, sent, 1), 0);
	assert_int_equal(fdpass_receive(ends[1], bytes, sizeof(bytes), received, &count), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(count_open(), before);
	assert_int_equal(fdpass_send(ends[0], "x", 1, sent, FDPASS_MAX + 1), -1);
	close(ends[0]);
	count = 0;
	assert_int_equal(fdpass_receive(ends[1], bytes, sizeof(bytes), NULL, &count), 0); /* the peer is gone */
	assert_int_equal(fdpass_send(ends[1], "x", 1, NULL, 0), -1);                      /* and no SIGPIPE */
	close(ends[1]);
	close(null_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_descriptors_arrive),
	                                   cmocka_unit_test(test_what_does_not_fit_leaves_nothing_open)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
