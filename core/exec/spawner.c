/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/spawner.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "sys/child.h"
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>

struct spawner {
	char *program;
	pthread_mutex_t lock; /* of everything below */
	pid_t pid;
	int socket;
	unsigned generation; /* counts starts: tells links that theirs is gone */
	struct spawner_hello hello;
	int scratch_parent;
	char scratch_name[32];
	atomic_uint_fast64_t sequence;
};

struct spawner_link {
	struct spawner *spawner;
	int socket;
	unsigned generation;
	bool is_asked;               /* for a keeper */
	struct prepared_keeper next; /* that keeper; keeper_fd is -1 until the answer has come */
	int retired_fd;              /* pidfd of the last run's keeper, to be reaped; -1 */
};

/* posix_spawn with `end` as the child's SPAWNER_SOCKET_FD and nothing else but the standard streams. */
static int run_program(struct spawner *spawner, int end)
{
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, end, SPAWNER_SOCKET_FD);
	char name[] = "assay-spawner";
	char *argv[] = {name, NULL};
	char *env[] = {NULL};
	int failure = posix_spawn(&spawner->pid, spawner->program, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	return failure;
}

static int send_guard(struct spawner *spawner, struct assay_error *err)
{
	if (spawner->scratch_parent < 0)
		return 0;
	struct spawner_request request = {.kind = SPAWNER_SCRATCH};
	memcpy(request.scratch_name, spawner->scratch_name, sizeof(request.scratch_name));
	if (fdpass_send(spawner->socket, &request, sizeof(request), &spawner->scratch_parent, 1))
		return error_set(err, ASSAY_SYSTEM, errno, "the spawner does not answer");
	return 0;
}

/* With the lock held (or before anybody else has the spawner). */
static int launch(struct spawner *spawner, struct assay_error *err)
{
	int ends[2];
	if (fdpass_pair(ends))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot make a socket pair");
	auto_close int ours = ends[0], theirs = ends[1];
	int failure = run_program(spawner, theirs);
	if (failure)
		return error_set(err, failure == ENOENT ? ASSAY_MISSING : ASSAY_SYSTEM, failure, "cannot start '%s'",
		                 spawner->program);
	close(steal_fd(&theirs));
	size_t no_fds = 0;
	struct spawner_hello hello;
	ssize_t len = fdpass_receive(ours, &hello, sizeof(hello), NULL, &no_fds);
	if (len != sizeof(hello)) {
		close(steal_fd(&ours)); /* its sign to go */
		waitpid(spawner->pid, NULL, 0);
		return error_set(err, ASSAY_INTERNAL, 0, "'%s' ended before it was ready", spawner->program);
	}
	if (spawner->generation == 0) /* others read it by now, and a later one finds the same host */
		spawner->hello = hello;
	spawner->socket = steal_fd(&ours);
	spawner->generation++;
	return send_guard(spawner, err);
}

int spawner_start(const char *program, struct spawner **ret, struct assay_error *err)
{
	struct spawner *spawner = xmalloc(sizeof(*spawner));
	spawner->program = xstrdup(program);
	spawner->socket = -1;
	spawner->scratch_parent = -1;
	pthread_mutex_init(&spawner->lock, NULL);
	int status = launch(spawner, err);
	if (status) {
		free(spawner->program);
		free(spawner);
		return status;
	}
	*ret = spawner;
	return 0;
}

void spawner_stop(struct spawner *spawner)
{
	if (!spawner)
		return;
	if (spawner->socket >= 0) {
		close(spawner->socket);
		waitpid(spawner->pid, NULL, 0);
	}
	if (spawner->scratch_parent >= 0)
		close(spawner->scratch_parent);
	pthread_mutex_destroy(&spawner->lock);
	free(spawner->program);
	free(spawner);
}

const struct spawner_hello *spawner_facts(const struct spawner *spawner)
{
	return &spawner->hello;
}

int spawner_guard(struct spawner *spawner, int parent, const char *name, struct assay_error *err)
{
	spawner->scratch_parent = fcntl(parent, F_DUPFD_CLOEXEC, 0);
	if (spawner->scratch_parent < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot duplicate a descriptor");
	snprintf(spawner->scratch_name, sizeof(spawner->scratch_name), "%s", name);
	return send_guard(spawner, err);
}

/* With the lock held: gives the link a socket of the running spawner, starting one if need be. */
static int link_up(struct spawner_link *link, struct assay_error *err)
{
	struct spawner *spawner = link->spawner;
	for (int attempt = 0; attempt < 2; attempt++) {
		if (spawner->socket < 0) {
			int status = launch(spawner, err);
			if (status)
				return status;
		}
		int ends[2];
		if (fdpass_pair(ends))
			return error_set(err, ASSAY_SYSTEM, errno, "cannot make a socket pair");
		struct spawner_request request = {.kind = SPAWNER_LINK};
		int sent = fdpass_send(spawner->socket, &request, sizeof(request), &ends[1], 1);
		close(ends[1]);
		if (sent == 0) {
			link->socket = ends[0];
			link->generation = spawner->generation;
			return 0;
		}
		close(ends[0]);
		close(spawner->socket);
		spawner->socket = -1;
		waitpid(spawner->pid, NULL, 0);
	}
	return error_set(err, ASSAY_INTERNAL, 0, "the spawner dies as soon as it is started");
}

/* When a link's peer has gone: a new socket, from a new spawner when nobody has started one yet. */
static int link_again(struct spawner_link *link, struct assay_error *err)
{
	struct spawner *spawner = link->spawner;
	close(link->socket);
	link->socket = -1;
	pthread_mutex_lock(&spawner->lock);
	if (link->generation == spawner->generation && spawner->socket >= 0) {
		log_line(LOG_WARNING, "the spawner (pid %d) died and is started again", spawner->pid);
		close(spawner->socket);
		spawner->socket = -1;
		waitpid(spawner->pid, NULL, 0);
	}
	int status = link_up(link, err);
	pthread_mutex_unlock(&spawner->lock);
	return status;
}

int spawner_connect(struct spawner *spawner, struct spawner_link **ret, struct assay_error *err)
{
	struct spawner_link *link = xmalloc(sizeof(*link));
	link->spawner = spawner;
	link->socket = -1;
	link->retired_fd = -1;
	pthread_mutex_lock(&spawner->lock);
	int status = link_up(link, err);
	pthread_mutex_unlock(&spawner->lock);
	if (status) {
		free(link);
		return status;
	}
	spawner_prepare(link);
	*ret = link;
	return 0;
}

/* How a question to the spawner went. One that fails for want of descriptors does not mean that the spawner is gone. */
enum answer { ANSWERED, SPAWNER_GONE, OUT_OF_DESCRIPTORS };

static enum answer why_failed(ssize_t len)
{
	bool is_gone = len >= 0 || errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN || errno == EBADF;
	return is_gone ? SPAWNER_GONE : OUT_OF_DESCRIPTORS;
}

static enum answer send_request(struct spawner_link *link, const struct spawner_request *request, const int *fd)
{
	if (link->socket < 0)
		return SPAWNER_GONE;
	return fdpass_send(link->socket, request, sizeof(*request), fd, fd ? 1 : 0) ? why_failed(-1) : ANSWERED;
}

static enum answer receive_reply(struct spawner_link *link, struct spawner_reply *reply, int *ret_fd)
{
	size_t count = 1;
	int fd = -1;
	if (link->socket < 0)
		return SPAWNER_GONE;
	ssize_t len = fdpass_receive(link->socket, reply, sizeof(*reply), &fd, &count);
	if (len != sizeof(*reply))
		return why_failed(len);
	*ret_fd = count ? fd : -1;
	return ANSWERED;
}

/* Asks for a keeper unless that has been done. */
static enum answer ask(struct spawner_link *link)
{
	int ends[2];
	if (link->is_asked)
		return ANSWERED;
	if (fdpass_pair(ends))
		return OUT_OF_DESCRIPTORS;
	struct spawner_request request = {.kind = SPAWNER_PREPARE};
	request.sequence = atomic_fetch_add(&link->spawner->sequence, 1);
	enum answer answer = send_request(link, &request, &ends[1]);
	close(ends[1]);
	link->is_asked = answer == ANSWERED;
	if (link->is_asked)
		link->next =
		    (struct prepared_keeper){.keeper_fd = -1, .control_fd = ends[0], .sequence = request.sequence};
	else
		close(ends[0]);
	return answer;
}

void spawner_prepare(struct spawner_link *link)
{
	ask(link);
}

/* Forgets the keeper that was asked for; one that lives sees its control socket close and goes. */
static void forget_keeper(struct spawner_link *link)
{
	close(link->next.control_fd);
	link->is_asked = false;
}

/* Waits for the keeper that was asked for: afterwards it is there, or forgotten. */
static enum answer receive_keeper(struct spawner_link *link, struct assay_error *err)
{
	struct spawner_reply reply;
	if (link->next.keeper_fd >= 0)
		return ANSWERED;
	enum answer answer = receive_reply(link, &reply, &link->next.keeper_fd);
	if (answer == ANSWERED && link->next.keeper_fd >= 0)
		return answer;
	forget_keeper(link);
	if (answer == ANSWERED && err)
		*err = reply.error;
	return answer;
}

void spawner_retire(struct spawner_link *link, int keeper_fd)
{
	struct child_exit ended;
	if (link->retired_fd >= 0) {
		child_wait(link->retired_fd, &ended);
		close(link->retired_fd);
	}
	link->retired_fd = keeper_fd;
}

void spawner_disconnect(struct spawner_link *link)
{
	if (!link)
		return;
	if (link->is_asked)
		receive_keeper(link, NULL);
	if (link->is_asked) {
		forget_keeper(link);
		spawner_retire(link, link->next.keeper_fd);
	}
	spawner_retire(link, -1);
	if (link->socket >= 0)
		close(link->socket);
	free(link);
}

int spawner_take(struct spawner_link *link, struct prepared_keeper *ret, struct assay_error *err)
{
	for (int attempt = 0; attempt < 3; attempt++) {
		struct assay_error cause = {0};
		enum answer answer = ask(link);
		if (answer == ANSWERED)
			answer = receive_keeper(link, &cause);
		if (link->is_asked) {
			*ret = link->next;
			link->is_asked = false;
			return 0;
		}
		if (answer == OUT_OF_DESCRIPTORS)
			return error_set(err, ASSAY_LIMIT, 0,
			                 "too many open files to start a box; run fewer at a time (--jobs)");
		if (answer == ANSWERED) {
			if (err)
				*err = cause;
			return cause.status ? cause.status : ASSAY_INTERNAL;
		}
		int status = link_again(link, err);
		if (status)
			return status;
	}
	return error_set(err, ASSAY_INTERNAL, 0, "the spawner dies whenever it is to start a box");
}

int spawner_mop_up(struct spawner_link *link, uint64_t sequence, struct assay_error *err)
{
	struct spawner_request request = {.kind = SPAWNER_MOP_UP, .sequence = sequence};
	struct spawner_reply reply;
	int fd = -1;
	for (int attempt = 0; attempt < 2; attempt++) {
		/* Answers come in order: the one about a keeper that was asked for comes first. */
		if (link->is_asked)
			receive_keeper(link, NULL);
		if (send_request(link, &request, NULL) == ANSWERED && receive_reply(link, &reply, &fd) == ANSWERED) {
			if (reply.error.status && err)
				*err = reply.error;
			return reply.error.status;
		}
		int status = link_again(link, err);
		if (status)
			return status;
	}
	return error_set(err, ASSAY_INTERNAL, 0, "the spawner died while a box was cleaned up");
}
