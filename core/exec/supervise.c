/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams are read as they come, whatever the program does: what is kept is bounded by limits.output_bytes, the rest is
 * counted and thrown away, so a program never blocks on a full pipe and memory never grows with its output. Reading
 * goes on until the report, then what is still in the pipes is drained, which is bounded by their capacity, for nobody
 * is left to write.
 */
#include "exec/supervise.h"
#include "base/clock.h"
#include "base/error.h"
#include "sys/child.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#define CHUNK           ((size_t)64 << 10)
#define KEEPER_GRACE_NS INT64_C(15000000000) /* past the wall limit, for a keeper that has to kill and clean up */
#define KEEPER_LATE_NS  INT64_C(500000000)

enum { STDOUT, STDERR, MARK, STDIN, CONTROL, KEEPER, CANCEL, FD_COUNT };

struct watch {
	struct supervision *supervision;
	struct step_record *record;
	struct pollfd fds[FD_COUNT];
	size_t stdin_done;
	bool has_report;
};

static void close_fd(struct pollfd *poll_fd)
{
	if (poll_fd->fd >= 0)
		close(poll_fd->fd);
	poll_fd->fd = -1;
}

/* Asks the keeper to end the box; it reports when that is done. */
static void stop(const struct watch *watch)
{
	const char byte = KEEPER_STOP;
	fdpass_send(watch->fds[CONTROL].fd, &byte, 1, NULL, 0);
}

static struct stream *stream_of(const struct watch *watch, int which)
{
	return which == STDOUT   ? &watch->record->stdout_stream
	       : which == STDERR ? &watch->record->stderr_stream
	                         : &watch->record->mark_stream;
}

/* One read; false when there was nothing. Closes the descriptor at its end. */
static bool take(struct watch *watch, int which)
{
	char chunk[CHUNK];
	struct stream *stream = stream_of(watch, which);
	ssize_t n = read(watch->fds[which].fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_fd(&watch->fds[which]);
		return false;
	}
	size_t cap = which == MARK ? MARK_BYTES_MAX : watch->supervision->limits->output_bytes;
	size_t room = cap - MIN(cap, stream->kept.len);
	buffer_append(&stream->kept, chunk, MIN(room, (size_t)n));
	stream->total_bytes += (uint64_t)n;
	if (stream->total_bytes > watch->supervision->limits->flood_bytes && !watch->supervision->is_flooded) {
		watch->supervision->is_flooded = true;
		stop(watch);
	}
	return true;
}

/* Feeds standard input; a program that does not read it, or has closed it, is no error. */
static void feed(struct watch *watch)
{
	struct assay_str data = watch->supervision->stdin_data;
	ssize_t n = write(watch->fds[STDIN].fd, data.ptr + watch->stdin_done, data.len - watch->stdin_done);
	if (n > 0)
		watch->stdin_done += (size_t)n;
	bool is_over = watch->stdin_done == data.len || (n < 0 && errno != EAGAIN && errno != EINTR);
	if (is_over)
		close_fd(&watch->fds[STDIN]);
}

static void read_report(struct watch *watch)
{
	size_t no_fds = 0;
	struct keeper_report *report = &watch->supervision->report;
	watch->has_report =
	    fdpass_receive(watch->fds[CONTROL].fd, report, sizeof(*report), NULL, &no_fds) == sizeof(*report);
	if (!watch->has_report) /* the keeper is going; its pidfd says when it is gone */
		watch->fds[CONTROL].events = 0;
}

static void handle(struct watch *watch)
{
	for (int which = STDOUT; which <= MARK; which++)
		if (watch->fds[which].fd >= 0 && watch->fds[which].revents)
			take(watch, which);
	if (watch->fds[STDIN].fd >= 0 && watch->fds[STDIN].revents)
		feed(watch);
	if (watch->fds[CANCEL].revents) {
		watch->supervision->is_cancelled = true;
		watch->fds[CANCEL].fd = -1; /* borrowed: only no longer looked at */
		stop(watch);
	}
	if (watch->fds[CONTROL].revents && watch->fds[CONTROL].events)
		read_report(watch);
}

/* Until the report has come or the keeper is lost. */
static int watch_until_report(struct watch *watch, struct assay_error *err)
{
	int64_t overdue_ns = clock_now_ns() + watch->supervision->limits->wall_ns + KEEPER_LATE_NS;
	int64_t deadline_ns = overdue_ns + KEEPER_GRACE_NS;
	while (!watch->has_report) {
		if (poll(watch->fds, FD_COUNT, clock_poll_ms(overdue_ns)) < 0 && errno != EINTR)
			return error_set(err, ASSAY_SYSTEM, errno, "poll");
		if (clock_now_ns() >= overdue_ns) { /* a program that is not confined may have stopped it */
			child_signal(watch->fds[KEEPER].fd, SIGCONT);
			overdue_ns = clock_now_ns() + KEEPER_LATE_NS;
		}
		handle(watch);
		if (watch->has_report)
			break;
		if (watch->fds[KEEPER].revents) {
			read_report(watch); /* it may have come with the end */
			if (watch->has_report)
				break;
			watch->supervision->is_keeper_killed = true;
			return error_set(err, ASSAY_INTERNAL, 0, "the box's keeper was killed");
		}
		if (clock_now_ns() >= deadline_ns) {
			child_signal(watch->fds[KEEPER].fd, SIGKILL);
			watch->supervision->is_keeper_killed = true;
			return error_set(err, ASSAY_INTERNAL, 0, "the box's keeper did not end the run in time");
		}
	}
	return 0;
}

int supervise(struct supervision *supervision, struct step_record *record, struct assay_error *err)
{
	struct watch watch = {.supervision = supervision, .record = record};
	const int fds[FD_COUNT] = {
	    [STDOUT] = supervision->stdout_fd, [STDERR] = supervision->stderr_fd,   [MARK] = supervision->mark_fd,
	    [STDIN] = supervision->stdin_fd,   [CONTROL] = supervision->control_fd, [KEEPER] = supervision->keeper_fd,
	    [CANCEL] = supervision->cancel_fd,
	};
	for (int i = 0; i < FD_COUNT; i++)
		watch.fds[i] = (struct pollfd){.fd = fds[i], .events = i == STDIN ? POLLOUT : POLLIN};
	for (int i = STDOUT; i <= STDIN; i++)
		if (fds[i] >= 0)
			fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);

	int status = watch_until_report(&watch, err);
	for (int which = STDOUT; which <= MARK; which++)
		while (status == 0 && watch.fds[which].fd >= 0 && take(&watch, which))
			;
	for (int i = STDOUT; i <= CONTROL; i++)
		close_fd(&watch.fds[i]);
	return status;
}
