/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/common.h"
#include <stdio.h>

static void write_stream(FILE *out, const struct stream *stream, const char *name)
{
	fwrite(stream->kept.data ? stream->kept.data : "", 1, stream->kept.len, out);
	fflush(out);
	if (stream->total_bytes > stream->kept.len)
		log_line(LOG_WARNING, "%s was cut: %zu of %llu bytes are shown", name, stream->kept.len,
		         (unsigned long long)stream->total_bytes);
}

static int exit_of_step(const struct step_record *step)
{
	switch (step->status) {
	case STEP_TIME_LIMIT:
		return EXIT_TIME_LIMIT;
	case STEP_MEMORY_LIMIT:
	case STEP_OUTPUT_LIMIT:
		return EXIT_SIGNAL + 9;
	case STEP_ERROR:
		return report(&step->error);
	default:
		return step->signal ? EXIT_SIGNAL + step->signal : step->return_code;
	}
}

static int print_program(const struct record *record)
{
	const struct step_record *step = record->has_run ? &record->run : record->build;
	if (!step)
		return EXIT_OK;
	if (!record->has_run && (step->status != STEP_FINISHED || step->return_code != 0)) {
		write_stream(stderr, &step->stdout_stream, "the build's output");
		write_stream(stderr, &step->stderr_stream, "the build's output");
		if (step->limit_hit)
			log_line(LOG_ERROR, "the build hit its %s limit", step->limit_hit);
		return step->status == STEP_ERROR ? report(&step->error) : EXIT_FAILED;
	}
	write_stream(stdout, &step->stdout_stream, "standard output");
	write_stream(stderr, &step->stderr_stream, "standard error");
	if (step->limit_hit)
		log_line(LOG_ERROR, "the program hit its %s limit", step->limit_hit);
	return exit_of_step(step);
}

static struct json_object *fetched_json(const struct request *request)
{
	struct json_object *list = json_list();
	for (size_t i = 0; i < request->fetched_count; i++) {
		const struct fetched_file *file = &request->fetched[i];
		struct json_object *map = json_map();
		char text[ERROR_TEXT_MAX];
		json_add_str(map, "path", file->path);
		json_add_int(map, "bytes", (int64_t)file->size_bytes);
		json_add_bool(map, "truncated", file->size_bytes > file->content.len);
		if (file->error.status)
			json_add_str(map, "error", str_of(error_format(&file->error, text, sizeof(text))));
		json_push(list, map);
	}
	return list;
}

static int print_record(const struct output_options *options, const struct request *request)
{
	const struct record *record = &request->verdict.tests[0].record;
	const struct record_json_options json_options = {.with_base64 = options->with_base64};
	auto_json struct json_object *map = record_json(record, &json_options);
	auto_buffer struct buffer text = {0};
	if (request->fetched_count > 0)
		json_add(map, "files", fetched_json(request));
	json_print(map, &text);
	printf("%s\n", text.data);
	const struct step_record *step = record->has_run ? &record->run : record->build;
	if (step && step->status == STEP_ERROR)
		return exit_code_of(step->error.status);
	return step && step->status == STEP_FINISHED && step->return_code == 0 ? EXIT_OK : EXIT_FAILED;
}

static void save_fetched(const struct output_options *options, const struct request *request)
{
	struct assay_error err = {0};
	auto_close int folder = request->fetched_count ? dir_open(options->fetch_folder, &err) : -1;
	for (size_t i = 0; i < request->fetched_count; i++) {
		const struct fetched_file *file = &request->fetched[i];
		struct assay_error cause = file->error.status ? file->error : err;
		if (!cause.status)
			file_write_beneath(folder, file->path, file->content, 0644, &cause);
		if (cause.status)
			report(&cause);
		else if (file->size_bytes > file->content.len)
			log_line(LOG_WARNING, "'%.*s' was cut at %zu bytes", STR_ARG(file->path), file->content.len);
	}
}

int output_run(const struct output_options *options, const struct request *request)
{
	const struct verdict *verdict = &request->verdict;
	if (request->error.status)
		return report(&request->error);
	if (verdict->test_count != 1)
		return EXIT_INTERNAL;
	const struct record *record = &verdict->tests[0].record;
	if (!record->has_run && !record->build) {
		log_line(LOG_ERROR, "%.*s", STR_ARG(verdict->tests[0].detail));
		return EXIT_INTERNAL;
	}
	save_fetched(options, request);
	return options->as_json ? print_record(options, request) : print_program(record);
}
