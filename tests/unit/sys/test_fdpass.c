/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "sys/fdpass.h"
#include <fcntl.h>
#include <sys/socket.h>

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

/* What a peer may send that fdpass_send() does not. */
static void send_raw(int socket, size_t len, int fd, size_t count)
{
	char control[CMSG_SPACE(20 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (char[]){"x"}, .iov_len = len};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = control,
	                         .msg_controllen = CMSG_SPACE(count * sizeof(int))};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (size_t i = 0; i < count; i++)
		memcpy(CMSG_DATA(head) + i * sizeof(int), &fd, sizeof(int));
	assert_int_equal(sendmsg(socket, &message, 0), len);
}

static void test_odd_peers_leave_nothing_open(void **state)
{
	(void)state;
	int ends[2], null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), received[FDPASS_MAX];
	char bytes[8];
	assert_int_equal(fdpass_pair(ends), 0);
	int before = count_open();
	static const struct {
		size_t len, count;
	} odd[] = {{1, FDPASS_MAX + 1}, {1, 20}, {0, 2}};
	for (size_t i = 0; i < COUNT_OF(odd); i++) {
		size_t count = FDPASS_MAX;
		send_raw(ends[0], odd[i].len, null_fd, odd[i].count);
		assert_int_equal(fdpass_receive(ends[1], bytes, sizeof(bytes), received, &count), -1);
		assert_int_equal(errno, EMSGSIZE);
		assert_int_equal(count, 0);
		assert_int_equal(count_open(), before);
	}
	assert_int_equal(fdpass_send(ends[0], "", 0, NULL, 0), -1); /* would look like the end */
	assert_int_equal(errno, EINVAL);
	close(ends[0]);
	close(ends[1]);
	close(null_fd);
}

/* The kernel tells of the unread message first; what the peer sent before it closed must arrive all the same. */
static void test_a_last_message_arrives(void **state)
{
	(void)state;
	int ends[2];
	char bytes[8];
	size_t count = 0;
	assert_int_equal(fdpass_pair(ends), 0);
	assert_int_equal(fdpass_send(ends[0], "unread", 6, NULL, 0), 0);
	assert_int_equal(fdpass_send(ends[1], "last", 4, NULL, 0), 0);
	close(ends[1]);
	assert_int_equal(fdpass_receive(ends[0], bytes, sizeof(bytes), NULL, &count), 4);
	assert_memory_equal(bytes, "last", 4);
	assert_int_equal(fdpass_receive(ends[0], bytes, sizeof(bytes), NULL, &count), 0);
	close(ends[0]);
}

static void test_the_largest_message(void **state)
{
	(void)state;
	int ends[2];
	size_t count = 0;
	static char sent[65536], received[65536];
	memset(sent, 'a', sizeof(sent));
	assert_int_equal(fdpass_pair(ends), 0);
	assert_int_equal(fdpass_send(ends[0], sent, sizeof(sent), NULL, 0), 0);
	assert_int_equal(fdpass_receive(ends[1], received, sizeof(received), NULL, &count), sizeof(sent));
	assert_memory_equal(sent, received, sizeof(sent));
	assert_int_equal(fdpass_send(ends[0], sent, sizeof(sent), NULL, 0), 0);
	assert_int_equal(fdpass_receive(ends[1], received, sizeof(received) - 1, NULL, &count), -1);
	assert_int_equal(errno, EMSGSIZE);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_descriptors_arrive), cmocka_unit_test(test_what_does_not_fit_leaves_nothing_open),
	    cmocka_unit_test(test_odd_peers_leave_nothing_open), cmocka_unit_test(test_a_last_message_arrives),
	    cmocka_unit_test(test_the_largest_message)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
