/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "batch/evaluate.h"
#include "cli/source.h"
#include "exec/spawner.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>

struct eval_options {
	struct places places;
	struct dataset_options dataset;
	const char *completions, *output, *pipeline, *language;
	int64_t shard, shard_count;
	int jobs;
	bool resume, is_quiet;
};

enum { KEY_COMPLETIONS = 2000, KEY_RESUME, KEY_SHARD, KEY_PIPELINE };

static const struct argp_option options[] = {
    {"completions", 'c', "FILE", 0, "Completions, one JSON object a line (.gz and .zst too; - is standard input)", 0},
    {"output", 'o', "FILE", 0, "Results, one JSON object a line", 0},
    {"pipeline", 'p', "P", 0, "Pipeline, by name or file (default: judge)", 0},
    {"language", 'l', "L", 0, "Language of completions that do not name theirs", 0},
    {"jobs", 'j', "N", 0, "Runs at a time (default: one a processor)", 0},
    {"resume", KEY_RESUME, NULL, 0, "Go on with the results that the output file holds", 0},
    {"shard", KEY_SHARD, "I/N", 0, "Take only every N-th completion, from the I-th on", 0},
    {"quiet", 'q', NULL, 0, "No progress and no table", 0},
    {0},
};

static void parse_shard(struct eval_options *eval, const char *text, struct argp_state *state)
{
	char first[24] = "";
	const char *slash = strchr(text, '/');
	if (!slash || (size_t)(slash - text) >= sizeof(first))
		argp_error(state, "--shard takes I/N, such as 1/4, not '%s'", text);
	memcpy(first, text, (size_t)(slash - text));
	eval->shard_count = option_count(state, "the N of --shard", slash + 1, 1, 1000000);
	eval->shard = option_count(state, "the I of --shard", first, 1, eval->shard_count);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct eval_options *eval = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &eval->dataset;
		state->child_inputs[1] = &eval->places;
		break;
	case 'c':
		eval->completions = value;
		break;
	case 'o':
		eval->output = value;
		break;
	case 'p':
		eval->pipeline = value;
		break;
	case 'l':
		eval->language = value;
		break;
	case 'j':
		eval->jobs = (int)option_count(state, "--jobs", value, 1, SPAWNER_LINKS_MAX);
		break;
	case KEY_RESUME:
		eval->resume = true;
		break;
	case KEY_SHARD:
		parse_shard(eval, value, state);
		break;
	case 'q':
		eval->is_quiet = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is no option", value);
		break;
	case ARGP_KEY_END:
		if (!eval->completions || !eval->output)
			argp_error(state, "name the completions (--completions) and the output (--output)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
    {&dataset_argp, 0, NULL, 0}, {&places_argp, 0, "Where things are:", 90}, {0}};
static const struct argp argp = {
    options,
    parse,
    "--dataset NAME|FILE --completions FILE --output FILE",
    "Judge a file of completions.\v"
    "A completion is {\"task_id\" or \"id\", \"completion\", optionally \"language\"}; several of one id are its "
    "samples "
    "and give pass@k. Results are written as they come; after an interruption, --resume goes on. The exit code tells "
    "of "
    "Assay, not of the completions: 0 when all were judged.\n\n"
    "Examples:\n"
    "  assay eval -d HumanEval.jsonl.gz -c samples.jsonl -o results.jsonl\n"
    "  assay eval -d problems.jsonl --set compare=float -c s.jsonl.zst -o r.jsonl",
    children,
    NULL,
    NULL};

/* -- interruption -- */

struct watcher {
	struct evaluation *evaluation;
	sigset_t signals;
	int received;
};

/* The first signal stops the reading, the second ends what is in flight. */
static void *watch_signals(void *arg)
{
	struct watcher *watcher = arg;
	int number;
	while (sigwait(&watcher->signals, &number) == 0) {
		if (number == SIGUSR1)
			return NULL;
		if (watcher->received) {
			evaluation_cancel(watcher->evaluation);
			continue;
		}
		watcher->received = number;
		log_line(LOG_NOTICE, "stopping after what is in flight; once more to stop at once");
		eventfd_write(watcher->evaluation->stop_fd, 1);
	}
	return NULL;
}

static int evaluate_watched(struct watcher *watcher, struct assay_error *err)
{
	pthread_t thread;
	int failure = pthread_create(&thread, NULL, watch_signals, watcher);
	if (failure)
		return error_set(err, ASSAY_SYSTEM, failure, "cannot start a thread");
	int status = evaluate(watcher->evaluation, err);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	return status;
}

/* -- the verb -- */

static void print_summary(const struct eval_options *eval, const struct evaluation *evaluation)
{
	auto_buffer struct buffer text = {0};
	double seconds = (double)evaluation->elapsed_ns / 1e9;
	if (eval->is_quiet)
		return;
	summary_print(evaluation->summary, NULL, &text);
	printf("%s%lld completions judged in %.1f s (%.1f a second)", text.data, (long long)evaluation->finished,
	       seconds, seconds > 0 ? (double)evaluation->finished / seconds : 0.0);
	if (evaluation->skipped)
		printf("; %zu were there already", evaluation->skipped);
	printf("\nresults: %s\n", eval->output);
}

/* A language that cannot be run would make every result a failure of Assay: better to say so at once. */
static int check_language(const struct registry *registry, struct assay_str language, struct assay_error *err)
{
	const struct plugin *plugin;
	if (language.len == 0)
		return 0;
	int status = registry_find(registry, ASSAY_KIND_LANGUAGE, language, &plugin, err);
	return status ? status : plugin_require_toolchain(plugin, err);
}

/* Completions that could not be judged are no error of the run, but whoever started it has to learn of them. */
static int report_failures(const struct evaluation *evaluation)
{
	const struct assay_error *first = &evaluation->first_failure;
	if (!first->status)
		return EXIT_OK;
	log_line(LOG_ERROR, "%lld results are infrastructure failures, no verdicts; the first of this run: %s",
	         (long long)summary_count(evaluation->summary, ASSAY_OUTCOME_INFRASTRUCTURE), first->message);
	return exit_code_of(first->status);
}

/* The exit code, or a negative status. */
static int evaluate_with(struct engine *engine, struct watcher *watcher, const struct eval_options *eval,
                         struct assay_error *err)
{
	struct dataset_source source = {0};
	struct pipeline *pipeline = NULL;
	struct evaluation evaluation = {.engine = engine,
	                                .completions_path = eval->completions,
	                                .output_path = eval->output,
	                                .shard = eval->shard,
	                                .shard_count = eval->shard_count,
	                                .resume = eval->resume,
	                                .is_quiet = eval->is_quiet,
	                                .stop_fd = eventfd(0, EFD_CLOEXEC)};
	int status = pipeline_open(engine_registry(engine), eval->places.conf_root, eval->pipeline, &pipeline, err);
	if (status == 0)
		status =
		    dataset_source_open(engine_registry(engine), eval->places.conf_root, &eval->dataset, &source, err);
	evaluation.language = eval->language ? str_of(eval->language) : source.language;
	if (status == 0)
		status = check_language(engine_registry(engine), evaluation.language, err);
	if (status == 0) {
		evaluation.pipeline = pipeline;
		evaluation.dataset = source.dataset;
		evaluation.rows = source.rows;
		watcher->evaluation = &evaluation;
		status = evaluate_watched(watcher, err);
		if (evaluation.elapsed_ns > 0) /* else it has not even begun */
			print_summary(eval, &evaluation);
		bool is_unfinished = status || evaluation.is_stopped;
		status = status ? report(err) : report_failures(&evaluation);
		if (evaluation.elapsed_ns > 0 && is_unfinished)
			log_line(LOG_NOTICE, "what is done is in '%s'; the same command with --resume goes on",
			         eval->output);
	}
	summary_free(evaluation.summary);
	dataset_source_close(&source);
	pipeline_close(pipeline);
	close(evaluation.stop_fd);
	return status;
}

int verb_eval(int argc, char **argv)
{
	struct eval_options eval = {.pipeline = "judge", .shard = 1, .shard_count = 1};
	struct watcher watcher = {0};
	struct assay_error err = {0};
	struct engine *engine = NULL;
	argp_parse(&argp, argc, argv, 0, NULL, &eval);
	sigemptyset(&watcher.signals);
	sigaddset(&watcher.signals, SIGINT);
	sigaddset(&watcher.signals, SIGTERM);
	sigaddset(&watcher.signals, SIGHUP);
	sigaddset(&watcher.signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &watcher.signals, NULL);
	int code = places_complete(&eval.places, &err);
	if (code == 0)
		code = places_open_engine(&eval.places, eval.jobs, &engine, &err);
	if (code == 0)
		code = evaluate_with(engine, &watcher, &eval, &err);
	engine_close(engine);
	places_close(&eval.places);
	if (code < 0)
		return report(&err);
	return watcher.received ? EXIT_SIGNAL + watcher.received : code;
}
