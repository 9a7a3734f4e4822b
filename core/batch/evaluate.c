/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/evaluate.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "batch/completions.h"
#include "batch/progress.h"
#include <poll.h>
#include <pthread.h>

/* Shared by the reading thread and the slots that finish requests. */
struct run {
	struct evaluation *evaluation;
	struct completions *completions;
	struct results *results;
	pthread_mutex_t lock; /* of what follows */
	struct progress progress;
	struct progress_state state;
	struct assay_error error; /* the first that stops the run */
};

/* What done() needs of the completion; in the request's arena. */
struct ticket {
	struct run *run;
	struct completion completion;
};

static void keep_error(struct run *run, const struct assay_error *err)
{
	pthread_mutex_lock(&run->lock);
	if (!run->error.status)
		run->error = *err;
	pthread_mutex_unlock(&run->lock);
}

/* Of the plan where there was one; else as it was asked for, which may be empty. */
static struct assay_str language_of(const struct request *request)
{
	const struct verdict *verdict = &request->verdict;
	return verdict->test_count > 0 && verdict->tests[0].record.language ? str_of(verdict->tests[0].record.language)
	                                                                    : request->language;
}

static struct json_object *result_json(const struct request *request, const struct ticket *ticket)
{
	const struct verdict *verdict = &request->verdict;
	const struct record_json_options options = {.output_bytes = request->pipeline->record_output_bytes};
	const struct completion *completion = &ticket->completion;
	struct json_object *line = json_map();
	json_add_copied(line, completion->id_column.ptr, json_of_node(completion->id));
	json_add_int(line, "sample", completion->sample);
	struct assay_str language = language_of(request);
	if (language.len > 0)
		json_add_str(line, "language", language);
	else
		json_add(line, "language", NULL);
	verdict_json_add(line, verdict, &options);
	return line;
}

static void keep_failure(struct evaluation *evaluation, const struct request *request, const struct ticket *ticket)
{
	int status = request->error.status ? request->error.status : ASSAY_INTERNAL;
	error_set(&evaluation->first_failure, status, 0, "%.*s, sample %lld: %.*s",
	          STR_ARG(str_slice(ticket->completion.id_text, 0, 80)), (long long)ticket->completion.sample,
	          STR_ARG(request->verdict.detail));
}

static void add_previous(void *arg, const struct result_line *line)
{
	summary_add(arg, line);
}

static void done(struct request *request, void *arg)
{
	struct ticket *ticket = arg;
	struct run *run = ticket->run;
	struct assay_error err = {0};
	if (atomic_load(&run->evaluation->is_cancelled))
		return;
	auto_json struct json_object *line = result_json(request, ticket);
	if (results_write(run->results, line, &err)) {
		keep_error(run, &err);
		return;
	}
	pthread_mutex_lock(&run->lock);
	const struct verdict *verdict = &request->verdict;
	const struct result_line result = {.id_text = ticket->completion.id_text,
	                                   .sample = ticket->completion.sample,
	                                   .outcome = verdict->outcome,
	                                   .language = language_of(request)};
	summary_add(run->evaluation->summary, &result);
	if (verdict->outcome == ASSAY_OUTCOME_INFRASTRUCTURE && !run->evaluation->first_failure.status)
		keep_failure(run->evaluation, request, ticket);
	run->evaluation->finished = ++run->state.finished;
	run->state.accepted += verdict->outcome == ASSAY_OUTCOME_ACCEPTED;
	progress_update(&run->progress, &run->state);
	pthread_mutex_unlock(&run->lock);
}

/* By its own name: an alias would mean nothing to a dataset type. An unknown one is told when it is planned for. */
static struct assay_str choose_language(const struct run *run, const struct completion *completion)
{
	const struct plugin *plugin;
	struct assay_str name = completion->language.len > 0 ? completion->language : run->evaluation->language;
	if (name.len == 0 ||
	    registry_find(engine_registry(run->evaluation->engine), ASSAY_KIND_LANGUAGE, name, &plugin, NULL))
		return name;
	return str_of(plugin->name);
}

/* Reads one completion and submits it; 1, 0 at the end, negative on error. */
static int submit_next(struct run *run, struct assay_error *err)
{
	struct evaluation *evaluation = run->evaluation;
	struct request *request = request_new();
	struct ticket *ticket = arena_alloc(request->arena, sizeof(*ticket));
	size_t index = 0;
	int status = completions_next(run->completions, request->arena, &ticket->completion, err);
	const struct completion *completion = &ticket->completion;
	bool is_there = status > 0 && results_has(run->results, completion->id_text, completion->sample);
	if (status > 0 && !is_there && !rows_find(evaluation->rows, completion->id_text, &index))
		status = node_error(err, completion->id, "the dataset has no row '%.*s'",
		                    STR_ARG(str_slice(completion->id_text, 0, 80)));
	if (status > 0 && !is_there) {
		int parsed = rows_parse(evaluation->rows, index, request->arena, &request->row, err);
		status = parsed ? parsed : status;
	}
	if (status <= 0 || is_there) {
		evaluation->skipped += is_there;
		request_free(request);
		return status;
	}
	ticket->run = run;
	request->pipeline = evaluation->pipeline;
	request->dataset = evaluation->dataset;
	request->language = choose_language(run, completion);
	request->completion = completion->completion;
	request->done = done;
	request->arg = ticket;
	engine_submit(evaluation->engine, request);
	return 1;
}

static bool is_stop_asked(const struct evaluation *evaluation)
{
	struct pollfd poll_fd = {.fd = evaluation->stop_fd, .events = POLLIN};
	return evaluation->stop_fd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

static bool has_error(struct run *run)
{
	pthread_mutex_lock(&run->lock);
	bool has = run->error.status != 0;
	completions_progress(run->completions, &run->state.bytes_done, &run->state.bytes_all);
	pthread_mutex_unlock(&run->lock);
	return has;
}

static void submit_all(struct run *run)
{
	struct assay_error err = {0};
	int status = 1;
	while (status > 0 && !has_error(run)) {
		if (is_stop_asked(run->evaluation)) {
			run->evaluation->is_stopped = true;
			break;
		}
		status = submit_next(run, &err);
	}
	if (status < 0)
		keep_error(run, &err);
	engine_wait(run->evaluation->engine);
	run->evaluation->is_stopped |= atomic_load(&run->evaluation->is_cancelled);
}

int evaluate(struct evaluation *evaluation, struct assay_error *err)
{
	struct run run = {.evaluation = evaluation, .lock = PTHREAD_MUTEX_INITIALIZER};
	evaluation->summary = summary_new();
	int status = completions_open(evaluation->completions_path,
	                              node_get(evaluation->dataset->plugin->descriptor.columns, "id"),
	                              evaluation->shard, evaluation->shard_count, &run.completions, err);
	if (status == 0)
		status = results_open(evaluation->output_path, evaluation->resume, add_previous, evaluation->summary,
		                      &run.results, err);
	if (status == 0) {
		int64_t started_ns = clock_now_ns();
		progress_start(&run.progress, evaluation->is_quiet);
		submit_all(&run);
		progress_end(&run.progress);
		evaluation->elapsed_ns = clock_now_ns() - started_ns;
		status = run.error.status;
		if (status && err)
			*err = run.error;
	}
	results_close(run.results);
	completions_close(run.completions);
	return status;
}

void evaluation_cancel(struct evaluation *evaluation)
{
	atomic_store(&evaluation->is_cancelled, true);
	engine_cancel(evaluation->engine);
}
