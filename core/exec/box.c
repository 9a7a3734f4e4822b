/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/box.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "exec/supervise.h"
#include <fcntl.h>
#include <signal.h>

/* Both ends of every channel, close-on-exec; -1 where there is none. */
struct channels {
	int ours[SPAWN_FD_MAX]; /* by enum spawn_fd */
	int theirs[SPAWN_FD_MAX];
};

static void close_list(int fds[SPAWN_FD_MAX])
{
	for (int i = 0; i < SPAWN_FD_MAX; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static void channels_close(struct channels *channels)
{
	close_list(channels->ours);
	close_list(channels->theirs);
}

static int open_pipe(struct channels *channels, enum spawn_fd which, bool is_input)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	channels->ours[which] = ends[is_input ? 1 : 0];
	channels->theirs[which] = ends[is_input ? 0 : 1];
	return 0;
}

static int channels_open(struct channels *channels, const struct box *box, struct assay_error *err)
{
	memset(channels, -1, sizeof(*channels));
	bool failed = open_pipe(channels, SPAWN_STDOUT, false) || open_pipe(channels, SPAWN_STDERR, false);
	failed = failed || (box->has_mark && open_pipe(channels, SPAWN_MARK, false));
	if (box->stdin_data.len > 0)
		failed = failed || open_pipe(channels, SPAWN_STDIN, true);
	else
		failed = failed || (channels->theirs[SPAWN_STDIN] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0;
	failed = failed || (channels->theirs[SPAWN_WORKSPACE] = fcntl(box->workspace->fd, F_DUPFD_CLOEXEC, 0)) < 0;
	if (failed) {
		int saved = errno;
		channels_close(channels);
		return error_set(err, ASSAY_SYSTEM, saved, "cannot open the box's channels");
	}
	return 0;
}

static const char *const *join(struct arena *arena, const char *const *first, const char *const *second)
{
	size_t first_count = 0, second_count = 0;
	while (first[first_count])
		first_count++;
	while (second && second[second_count])
		second_count++;
	const char **all = arena_array(arena, first_count + second_count + 1, sizeof(*all));
	memcpy(all, first, first_count * sizeof(*all));
	if (second_count)
		memcpy(all + first_count, second, second_count * sizeof(*all));
	return all;
}

/* The command with what only the workspace decides. */
static int write_sheet(const struct box *box, struct assay_error *err)
{
	auto_arena struct arena *arena = arena_new();
	const char *folder = arena_printf(arena, "%s/%s", box->workspace->scratch->path, box->workspace->name).ptr;
	const char *const places[] = {arena_printf(arena, "HOME=%s", folder).ptr,
	                              arena_printf(arena, "TMPDIR=%s/.tmp", folder).ptr, NULL};
	return sheet_write(&box->step->limits, box->settings->has_identity, box->settings->uid, box->settings->gid,
	                   join(arena, box->step->argv, box->args), join(arena, places, box->step->env), err);
}

/* Gives a prepared keeper its work. One that has died while it waited is replaced, once. */
static int send_start(struct spawner_link *link, const struct channels *channels, size_t fd_count,
                      struct prepared_keeper *ret, struct assay_error *err)
{
	const char byte = KEEPER_START;
	for (int attempt = 0; attempt < 2; attempt++) {
		int status = spawner_take(link, ret, err);
		if (status)
			return status;
		if (fdpass_send(ret->control_fd, &byte, 1, channels->theirs, fd_count) == 0)
			return 0;
		close(ret->control_fd);
		spawner_retire(link, ret->keeper_fd);
		spawner_mop_up(link, ret->sequence, NULL);
	}
	return error_set(err, ASSAY_INTERNAL, 0, "keepers die before they are used");
}

static int start(struct spawner_link *link, struct channels *channels, struct prepared_keeper *ret,
                 const struct box *box, struct assay_error *err)
{
	channels->theirs[SPAWN_SHEET] = write_sheet(box, err);
	if (channels->theirs[SPAWN_SHEET] < 0)
		return channels->theirs[SPAWN_SHEET];
	int status = send_start(link, channels, box->has_mark ? SPAWN_FD_MAX : SPAWN_FD_MIN, ret, err);
	/* Only the box holds these now: their other ends read end-of-file when it ends. */
	close_list(channels->theirs);
	spawner_prepare(link); /* for the next box */
	return status;
}

static void set_status(struct step_record *record, enum step_status status, const char *limit_hit)
{
	record->status = status;
	record->limit_hit = limit_hit;
}

/* What the run amounts to. Only counters of ours and of the kernel decide that a limit was hit, never a signal. */
static void judge_end(const struct supervision *seen, const struct limits *limits, struct step_record *record)
{
	const struct keeper_report *report = &seen->report;
	bool has_failed = report->is_signalled || report->code != 0;
	if (report->end == KEEPER_FAILED || report->error.status) {
		record->error = report->error;
		set_status(record, STEP_ERROR, NULL);
	} else if (report->oom_kills > 0)
		set_status(record, STEP_MEMORY_LIMIT, "memory");
	else if (seen->is_flooded)
		set_status(record, STEP_OUTPUT_LIMIT, "output");
	else if (seen->is_cancelled && report->end == KEEPER_STOPPED) {
		error_set(&record->error, ASSAY_SYSTEM, 0, "cancelled");
		set_status(record, STEP_ERROR, NULL);
	} else if (report->end == KEEPER_CPU || report->cpu_ns >= limits->cpu_ns)
		set_status(record, STEP_TIME_LIMIT, "cpu");
	else if (report->end == KEEPER_WALL)
		set_status(record, STEP_TIME_LIMIT, "wall");
	else if (report->process_denied > 0 && has_failed)
		set_status(record, STEP_PROCESS_LIMIT, "processes");
	else
		set_status(record, report->is_signalled ? STEP_SIGNALLED : STEP_FINISHED, NULL);
}

static void fill_record(const struct supervision *seen, const struct limits *limits, struct step_record *record)
{
	const struct keeper_report *report = &seen->report;
	record->signal = report->is_signalled ? report->code : 0;
	record->return_code = report->is_signalled ? -report->code : report->code;
	record->wall_ns = report->wall_ns;
	record->cpu_ns = report->cpu_ns;
	record->memory_peak_bytes = report->memory_peak_bytes;
	record->left_processes = report->left_processes;
	judge_end(seen, limits, record);
}

static void keeper_lost(struct spawner_link *link, uint64_t sequence, bool was_killed, struct step_record *record)
{
	bool is_clean = spawner_mop_up(link, sequence, &record->error) == 0;
	record->is_keeper_lost = was_killed && is_clean;
	set_status(record, record->is_keeper_lost ? STEP_SIGNALLED : STEP_ERROR, NULL);
	record->signal = SIGKILL;
	record->return_code = -SIGKILL;
}

void box_run(struct spawner_link *link, const struct box *box, struct step_record *record)
{
	memset(record, 0, sizeof(*record));
	struct channels channels;
	struct prepared_keeper keeper;
	if (channels_open(&channels, box, &record->error) || start(link, &channels, &keeper, box, &record->error)) {
		set_status(record, STEP_ERROR, NULL);
		channels_close(&channels);
		return;
	}
	struct supervision seen = {
	    .stdin_fd = channels.ours[SPAWN_STDIN],
	    .stdout_fd = channels.ours[SPAWN_STDOUT],
	    .stderr_fd = channels.ours[SPAWN_STDERR],
	    .mark_fd = channels.ours[SPAWN_MARK],
	    .control_fd = keeper.control_fd,
	    .keeper_fd = keeper.keeper_fd,
	    .cancel_fd = box->cancel_fd,
	    .stdin_data = box->stdin_data,
	    .limits = &box->step->limits,
	};
	bool is_lost = supervise(&seen, record, &record->error) != 0;
	spawner_retire(link, keeper.keeper_fd);
	if (is_lost)
		keeper_lost(link, keeper.sequence, seen.is_keeper_killed, record);
	else
		fill_record(&seen, &box->step->limits, record);
}

void box_protections(const struct spawner_hello *facts, struct protections *protections)
{
	const char *cgroup = facts->cgroup_version == CGROUP_V2 ? "cgroup-v2" : "cgroup-v1";
	protections_set(protections, "wall", "clock");
	protections_set(protections, "cpu", facts->has_cpu ? cgroup : "process-tree");
	protections_set(protections, "memory", facts->has_memory ? cgroup : "rlimit");
	/* The limit counts all processes of the user, and none of root's. */
	protections_set(protections, "processes", facts->has_processes ? cgroup : geteuid() == 0 ? "none" : "rlimit");
	protections_set(protections, "kill", facts->cgroup_version == CGROUP_NONE ? "process-tree" : cgroup);
	protections_set(protections, "output", "cap");
	protections_set(protections, "file_size", "rlimit");
	protections_set(protections, "environment", "allow-list");
	protections_set(protections, "descriptors", "allow-list");
}
