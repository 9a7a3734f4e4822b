/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/quantity.h"
#include "base/str.h"
#include "cli/common.h"
#include "cli/output.h"
#include <stdio.h>

#define SOURCE_MAX ((size_t)64 << 20)
#define LIST_MAX   256

struct run_options {
	struct places places;
	const char *language, *isolation, *pipeline, *stdin_path, *source;
	const char *fetch[LIST_MAX + 1];
	char *files[LIST_MAX]; /* PATH=FILE */
	size_t fetch_count, file_count;
	const char **args;
	struct limits limits;
	struct output_options output;
	bool explain;
};

enum { KEY_STDIN = 2000, KEY_FILE, KEY_FETCH, KEY_FETCH_DIR, KEY_JSON, KEY_BASE64, KEY_EXPLAIN, KEY_CPU };

static const struct argp_option options[] = {
    {"language", 'l', "L", 0, "Language of the source; else told by its file name", 0},
    {"isolation", 'i', "I", 0, "Isolation backend; else that of the pipeline", 0},
    {"pipeline", 'p', "P", 0, "Pipeline, by name or file (default: run)", 0},
    {"stdin", KEY_STDIN, "FILE", 0, "Standard input of the program; - passes Assay's own on", 0},
    {"file", KEY_FILE, "PATH=FILE", 0, "Lay FILE down as PATH in the workspace (repeatable)", 0},
    {"fetch", KEY_FETCH, "PATH", 0, "Bring PATH of the workspace back after the run (repeatable)", 0},
    {"fetch-dir", KEY_FETCH_DIR, "DIR", 0, "Where fetched files go (default: the current folder)", 0},
    {"timeout", 't', "TIME", 0, "Limit on CPU time and on the clock, in seconds or with a unit", 0},
    {"cpu", KEY_CPU, "TIME", 0, "Limit on CPU time alone; the clock gets a multiple", 0},
    {"memory", 'm', "SIZE", 0, "Memory limit of all its processes, such as 256MiB", 0},
    {"json", KEY_JSON, NULL, 0, "Print the record instead of the program's output", 0},
    {"base64", KEY_BASE64, NULL, 0, "With --json: the exact bytes of the output, too", 0},
    {"explain", KEY_EXPLAIN, NULL, 0, "Print the plan and run nothing", 0},
    {0},
};

static void add_argument(struct run_options *run, char *value, struct argp_state *state)
{
	run->source = value;
	run->args = (const char **)&state->argv[state->next]; /* all that follows is the program's */
	state->next = state->argc;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct run_options *run = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->places;
		break;
	case 'l':
		run->language = value;
		break;
	case 'i':
		run->isolation = value;
		break;
	case 'p':
		run->pipeline = value;
		break;
	case KEY_STDIN:
		run->stdin_path = value;
		break;
	case KEY_FILE:
		if (!strchr(value, '=') || run->file_count == LIST_MAX)
			argp_error(state, "--file takes PATH=FILE, at most %d times", LIST_MAX);
		run->files[run->file_count++] = value;
		break;
	case KEY_FETCH:
		if (!path_is_plain(str_of(value)) || run->fetch_count == LIST_MAX)
			argp_error(state, "--fetch takes a path below the workspace, at most %d times", LIST_MAX);
		run->fetch[run->fetch_count++] = value;
		break;
	case KEY_FETCH_DIR:
		run->output.fetch_folder = value;
		break;
	case 't':
		run->limits.cpu_ns = run->limits.wall_ns = option_seconds(state, "--timeout", value);
		break;
	case KEY_CPU:
		run->limits.cpu_ns = option_seconds(state, "--cpu", value);
		break;
	case 'm':
		run->limits.memory_bytes = option_size(state, "--memory", value);
		break;
	case KEY_JSON:
		run->output.as_json = true;
		break;
	case KEY_BASE64:
		run->output.with_base64 = true;
		break;
	case KEY_EXPLAIN:
		run->explain = true;
		break;
	case ARGP_KEY_ARG:
		add_argument(run, value, state);
		break;
	case ARGP_KEY_END:
		if (!run->source)
			argp_error(state, "name the source file, or - for standard input");
		if (!strcmp(run->source, "-") && run->stdin_path && !strcmp(run->stdin_path, "-"))
			argp_error(state, "source and standard input cannot both be -");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&places_argp, 0, "Where things are:", 90}, {0}};
static const struct argp argp = {
    options,
    parse,
    "SOURCE|- [ARGUMENT...]",
    "Run one program under limits.\v"
    "The program's standard output, standard error and exit code are passed through; a signal N gives 128+N, a time "
    "limit 124, a memory limit 137. With --json the record of the run is printed instead and the exit code is 0 when "
    "the program ended with 0, else 1; a failure of Assay's own gives 3, 4 or 5.\n\n"
    "Examples:\n"
    "  assay run --stdin input.txt main.cpp\n"
    "  echo 'print(6 * 7)' | assay run --language python --timeout 2 --json -",
    children,
    NULL,
    NULL};

/* -- input -- */

/* By its descriptor: a socket has no name to open. */
static int read_stdin(struct buffer *text, struct assay_error *err)
{
	ssize_t n;
	while ((n = read(STDIN_FILENO, buffer_reserve(text, 65536), 65536)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot read standard input");
		text->len += (size_t)n;
		if (text->len > SOURCE_MAX)
			return error_set(err, ASSAY_LIMIT, 0, "standard input is longer than 64MiB");
	}
	return 0;
}

static int read_input(struct arena *arena, const char *path, struct assay_str *ret, struct assay_error *err)
{
	auto_buffer struct buffer text = {0};
	int status = strcmp(path, "-") ? file_read(path, SOURCE_MAX, &text, err) : read_stdin(&text, err);
	if (status == 0)
		*ret = arena_copy(arena, buffer_str(&text));
	return status;
}

/* The language whose `source:` is "main" with the same ending (pytest's, test_main.py, is not for every .py). */
static int guess_language(const struct registry *registry, const char *source, struct assay_str *ret,
                          struct assay_error *err)
{
	const char *ending = strrchr(source, '.');
	char main_name[64];
	snprintf(main_name, sizeof(main_name), "main%.50s", ending ? ending : "");
	for (size_t i = 0; ending && i < registry_count(registry); i++) {
		const struct plugin *plugin = registry_at(registry, i);
		struct assay_str name;
		if (plugin->kind == ASSAY_KIND_LANGUAGE && !plugin->problem.status &&
		    node_str(node_get(plugin->descriptor.root, "source"), &name, NULL) == 0 &&
		    str_is(name, main_name)) {
			*ret = plugin->descriptor.name;
			return 0;
		}
	}
	return error_set(err, ASSAY_INVALID, 0, "no language goes by the file name '%s'; say which with --language",
	                 source);
}

static int add_files(const struct run_options *run, struct request *request, struct assay_error *err)
{
	struct plan_file *files = arena_array(request->arena, run->file_count, sizeof(*files));
	for (size_t i = 0; i < run->file_count; i++) {
		const char *equals = strchr(run->files[i], '=');
		files[i].path = (struct assay_str){run->files[i], (size_t)(equals - run->files[i])};
		files[i].mode = 0644;
		int status = read_input(request->arena, equals + 1, &files[i].content, err);
		if (status)
			return status;
	}
	request->run.files = files;
	request->run.file_count = run->file_count;
	return 0;
}

static int fill_request(const struct run_options *run, const struct registry *registry, struct request *request,
                        struct assay_error *err)
{
	request->language = str_of(run->language);
	request->run.limits = run->limits;
	request->run.args = (const char *const *)run->args;
	request->run.fetch = run->fetch;
	int status = run->language ? 0 : guess_language(registry, run->source, &request->language, err);
	if (status == 0)
		status = read_input(request->arena, run->source, &request->run.code, err);
	if (status == 0 && run->stdin_path)
		status = read_input(request->arena, run->stdin_path, &request->run.stdin_data, err);
	return status ? status : add_files(run, request, err);
}

/* -- the verb -- */

/* What done() leaves behind. */
struct outcome {
	const struct run_options *run;
	int exit_code;
};

static void done(struct request *request, void *arg)
{
	struct outcome *outcome = arg;
	outcome->exit_code = output_run(&outcome->run->output, request);
}

static int explain(struct engine *engine, struct request *request, struct assay_error *err)
{
	struct plan plan;
	int status = engine_explain(engine, request, &plan, err);
	if (status)
		return status;
	auto_json struct json_object *map = plan_json(&plan);
	auto_buffer struct buffer text = {0};
	json_print_pretty(map, &text);
	printf("%s\n", text.data);
	return 0;
}

static int run_with(struct engine *engine, const struct run_options *run, struct assay_error *err)
{
	struct pipeline *pipeline = NULL;
	struct outcome outcome = {.run = run};
	struct request *request = request_new();
	int status = pipeline_open(engine_registry(engine), run->places.conf_root, run->pipeline, &pipeline, err);
	if (status == 0 && run->isolation)
		status = pipeline_use_isolation(engine_registry(engine), pipeline, run->isolation, err);
	if (status == 0)
		status = fill_request(run, engine_registry(engine), request, err);
	request->pipeline = pipeline;
	request->done = done;
	request->arg = &outcome;
	if (status == 0 && !run->explain) {
		engine_submit(engine, request);
		engine_wait(engine);
	} else {
		if (status == 0)
			status = explain(engine, request, err);
		request_free(request);
	}
	pipeline_close(pipeline);
	return status ? status : outcome.exit_code;
}

int verb_run(int argc, char **argv)
{
	struct run_options run = {.pipeline = "run", .output = {.fetch_folder = "."}};
	struct assay_error err = {0};
	struct engine *engine = NULL;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
	int code = places_complete(&run.places, &err);
	if (code == 0)
		code = places_open_engine(&run.places, 1, &engine, &err);
	if (code == 0)
		code = run_with(engine, &run, &err);
	engine_close(engine);
	places_close(&run.places);
	return code < 0 ? report(&err) : code;
}
