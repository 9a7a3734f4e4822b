/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/fdpass.h"
#include <sys/socket.h>

int fdpass_pair(int ret_ends[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends);
}

union control {
	struct cmsghdr head; /* for its alignment */
	char bytes[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
};

int fdpass_send(int socket, const void *bytes, size_t len, const int *fds, size_t fd_count)
{
	union control control = {0};
	struct iovec part = {.iov_base = (void *)bytes, .iov_len = len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd_count > FDPASS_MAX || len == 0) { /* an empty message would look like the end */
		errno = EINVAL;
		return -1;
	}
	if (fd_count > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, fd_count * sizeof(int));
	}
	ssize_t n;
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -1;
}

/* Moves the descriptors of a message to the caller, or closes those there is no room for. */
static size_t take_fds(struct msghdr *message, int *fds, size_t room)
{
	size_t count = 0;
	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		size_t received = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < received; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
			if (count < room)
				fds[count] = fd;
			else
				close(fd);
			count++;
		}
	}
	return count;
}

ssize_t fdpass_receive(int socket, void *bytes, size_t size, int *fds, size_t *fd_count)
{
	union control control = {0};
	struct iovec part = {.iov_base = bytes, .iov_len = size};
	struct msghdr message = {
	    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
	size_t room = *fd_count;
	*fd_count = 0;
	ssize_t n;
	/* ECONNRESET is told once, when the peer has closed with something unread; what it sent before is still there.
	 */
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return -1;
	size_t count = take_fds(&message, fds, room);
	if (count > room || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || (n == 0 && count > 0)) {
		for (size_t i = 0; i < MIN(count, room); i++)
			close(fds[i]);
		errno = EMSGSIZE;
		return -1;
	}
	*fd_count = count;
	return n;
}
