/* SPDX-License-Identifier: Apache-2.0 */
/* Messages with descriptors over SOCK_SEQPACKET Unix sockets (unix(7), SCM_RIGHTS). */
#ifndef SYS_FDPASS_H
#define SYS_FDPASS_H

#include "base/defs.h"

#define FDPASS_MAX 12

/* Two connected ends, close-on-exec. 0, or -1 with errno. */
int fdpass_pair(int ret_ends[2]);
/* Sends one message of 1..65536 bytes with `fd_count` descriptors; 0, or -1 with errno. Never raises SIGPIPE. */
int fdpass_send(int socket, const void *bytes, size_t len, const int *fds, size_t fd_count);
/*
 * Receives one message: its length, 0 when the peer has closed, -1 with errno. Descriptors arrive close-on-exec;
 * *fd_count is in: room in `fds`, out: how many came. A cut message or cut descriptors give -1 with EMSGSIZE and leave
 * nothing open.
 */
ssize_t fdpass_receive(int socket, void *bytes, size_t size, int *fds, size_t *fd_count);

#endif
