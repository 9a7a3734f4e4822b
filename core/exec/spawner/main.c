/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay-spawner: the small program that starts boxes. It is a program of its own, not a fork of the front, so that it
 * stays a few hundred kilobytes whatever the front grows to (a clone costs time in proportion to memory), can be
 * started again when it dies, and is all that needs privilege. It is single-threaded, holds no state of any run, and
 * clones each keeper as a child of the front, which therefore waits for it itself.
 *
 * When the front dies, keepers notice by themselves. The spawner waits for the last of them, then removes the scratch
 * folder.
 */
#include "base/clock.h"
#include "base/error.h"
#include "exec/keeper.h"
#include "exec/scratch_lock.h"
#include "exec/spawner.h"
#include "sys/child.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

struct spawner_state {
	struct cgroup_root root;
	int lease[2]; /* every keeper holds the second end; the first reads end-of-file when all are gone */
	int scratch_parent;
	char scratch_name[32];
	struct pollfd sockets[1 + SPAWNER_LINKS_MAX]; /* the front's, then links */
	size_t socket_count;
};

static void close_all(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Clones a keeper; the reply carries its pidfd or says what went wrong. */
static void prepare(struct spawner_state *state, int link, uint64_t sequence, int control_fd)
{
	struct spawner_reply reply = {0};
	int pidfd = -1;
	pid_t pid = child_clone(CLONE_PARENT, -1, &pidfd);
	if (pid == 0) {
		/* What would keep others' ends of sockets open. */
		for (size_t i = 0; i < state->socket_count; i++)
			close(state->sockets[i].fd);
		keeper_run(&state->root, sequence, control_fd);
	}
	if (pid < 0)
		error_set(&reply.error, ASSAY_SYSTEM, errno, "cannot clone a keeper");
	fdpass_send(link, &reply, sizeof(reply), &pidfd, pidfd >= 0 ? 1 : 0);
	if (pidfd >= 0)
		close(pidfd);
}

static void mop_up(struct spawner_state *state, int link, uint64_t sequence)
{
	char name[32];
	keeper_cgroup_name(sequence, name);
	struct cgroup cgroup;
	struct spawner_reply reply = {0};
	if (cgroup_find(&cgroup, &state->root, name) == 0) {
		if (cgroup_kill(&cgroup, clock_now_ns() + INT64_C(5000000000)) < 0)
			error_set(&reply.error, ASSAY_SYSTEM, 0, "processes of the box could not be killed");
		cgroup_remove(&cgroup);
	}
	fdpass_send(link, &reply, sizeof(reply), NULL, 0);
}

/* One message from socket `index`; false when its peer is gone. */
static bool serve(struct spawner_state *state, size_t index)
{
	struct spawner_request request;
	int fds[FDPASS_MAX];
	size_t fd_count = FDPASS_MAX;
	int socket = state->sockets[index].fd;
	ssize_t len = fdpass_receive(socket, &request, sizeof(request), fds, &fd_count);
	if (len <= 0)
		return false;
	bool is_front = index == 0;
	if (len != sizeof(request)) {
		close_all(fds, fd_count);
		return false;
	}
	if (is_front && request.kind == SPAWNER_LINK && fd_count == 1 && state->socket_count <= SPAWNER_LINKS_MAX) {
		state->sockets[state->socket_count++] = (struct pollfd){.fd = fds[0], .events = POLLIN};
		return true; /* kept open */
	}
	if (is_front && request.kind == SPAWNER_SCRATCH && fd_count == 1) {
		state->scratch_parent = fds[0];
		memcpy(state->scratch_name, request.scratch_name, sizeof(state->scratch_name) - 1);
		return true; /* kept open */
	}
	if (!is_front && request.kind == SPAWNER_PREPARE && fd_count == 1) {
		prepare(state, socket, request.sequence, fds[0]);
	} else if (!is_front && request.kind == SPAWNER_MOP_UP) {
		mop_up(state, socket, request.sequence);
	}
	close_all(fds, fd_count);
	return true;
}

/* Until the front is gone. */
static void loop(struct spawner_state *state)
{
	for (;;) {
		if (poll(state->sockets, state->socket_count, -1) < 0)
			continue; /* a signal */
		for (size_t i = state->socket_count; i-- > 0;) {
			if (!state->sockets[i].revents || serve(state, i))
				continue;
			if (i == 0)
				return;
			close(state->sockets[i].fd);
			state->sockets[i] = state->sockets[--state->socket_count];
		}
	}
}

static void clean_up(struct spawner_state *state)
{
	close(state->lease[1]);
	struct pollfd last_keeper = {.fd = state->lease[0], .events = POLLIN};
	poll(&last_keeper, 1, 20000);
	cgroup_root_close(&state->root);
	if (state->scratch_parent >= 0)
		scratch_remove_dead(state->scratch_parent, state->scratch_name,
		                    NULL); /* unless the front lives after all */
}

int main(void)
{
	struct spawner_state state = {.scratch_parent = -1, .socket_count = 1};
	state.sockets[0] = (struct pollfd){.fd = SPAWNER_SOCKET_FD, .events = POLLIN};
	prctl(PR_SET_NAME, "assay-spawner");
	setsid(); /* Ctrl-C is for the front, which ends runs in order */
	signal(SIGPIPE, SIG_IGN);
	if (fcntl(SPAWNER_SOCKET_FD, F_SETFD, FD_CLOEXEC) || pipe2(state.lease, O_CLOEXEC)) {
		fprintf(stderr, "assay-spawner is started by assay, not by hand\n");
		return 2;
	}
	/* The front's pid: a spawner that takes over from a dead one must not sweep away the boxes that go on. */
	char owner[16];
	snprintf(owner, sizeof(owner), "%d", getppid());
	cgroup_root_sweep();
	cgroup_root_open(&state.root, owner);
	struct spawner_hello hello = {
	    .cgroup_version = state.root.version,
	    .has_memory = state.root.has_memory,
	    .has_processes = state.root.has_pids,
	    .has_cpu = state.root.has_cpu,
	};
	memcpy(hello.reason, state.root.reason, sizeof(hello.reason));
	if (fdpass_send(SPAWNER_SOCKET_FD, &hello, sizeof(hello), NULL, 0) == 0)
		loop(&state);
	clean_up(&state);
	return 0;
}
