/* SPDX-License-Identifier: Apache-2.0 */
#include "model/record.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include <stdint.h>

const char *step_status_name(enum step_status status)
{
	static const char *const names[] = {
#define X(symbol, word) [symbol] = word,
	    STEP_STATUS_MAP(X)
#undef X
	};
	return (size_t)status < COUNT_OF(names) ? names[status] : "unknown";
}

void step_record_free(struct step_record *record)
{
	buffer_free(&record->stdout_stream.kept);
	buffer_free(&record->stderr_stream.kept);
	buffer_free(&record->mark_stream.kept);
	memset(record, 0, sizeof(*record));
}

/* What a stream's keys are called. */
struct stream_keys {
	const char *text, *bytes, *truncated, *replaced, *base64;
};

static const struct stream_keys stdout_keys = {"stdout", "stdout_bytes", "stdout_truncated", "stdout_replaced",
                                               "stdout_base64"};
static const struct stream_keys stderr_keys = {"stderr", "stderr_bytes", "stderr_truncated", "stderr_replaced",
                                               "stderr_base64"};

static void add_stream(struct json_object *map, const struct stream *stream, const struct stream_keys *keys,
                       const struct record_json_options *options)
{
	struct assay_str kept = buffer_str(&stream->kept);
	size_t limit = options->output_bytes ? options->output_bytes : SIZE_MAX;
	bool is_cut = kept.len > limit || stream->total_bytes > kept.len;
	struct assay_str shown = kept;
	if (is_cut) /* a character that a cut has split is left out */
		shown.len = utf8_cut(kept.ptr ? kept.ptr : "", kept.len, MIN(limit, kept.len));
	bool is_replaced = json_add_str(map, keys->text, shown);
	json_add_int(map, keys->bytes, (int64_t)stream->total_bytes);
	json_add_bool(map, keys->truncated, is_cut);
	if (is_replaced)
		json_add_bool(map, keys->replaced, true);
	if (options->with_base64) {
		auto_buffer struct buffer text = {0};
		base64_append(&text, kept);
		json_add_str(map, keys->base64, buffer_str(&text));
	}
}

static struct json_object *error_json(const struct assay_error *error)
{
	char text[ERROR_TEXT_MAX];
	struct json_object *map = json_map();
	json_add_str(map, "status", str_of(error_status_name(error->status)));
	json_add_str(map, "message", str_of(error_format(error, text, sizeof(text))));
	return map;
}

static double milliseconds(int64_t ns)
{
	return (double)(ns / 1000) / 1000.0;
}

static struct json_object *step_json(const struct step_record *step, const struct record_json_options *options)
{
	struct json_object *map = json_map();
	json_add_str(map, "status", str_of(step_status_name(step->status)));
	if (step->status == STEP_ERROR)
		json_add(map, "return_code", NULL);
	else
		json_add_int(map, "return_code", step->return_code);
	if (step->signal)
		json_add_int(map, "signal", step->signal);
	else
		json_add(map, "signal", NULL);
	json_add_real(map, "wall_ms", milliseconds(step->wall_ns));
	json_add_real(map, "cpu_ms", milliseconds(step->cpu_ns));
	json_add_int(map, "memory_peak_bytes", (int64_t)step->memory_peak_bytes);
	add_stream(map, &step->stdout_stream, &stdout_keys, options);
	add_stream(map, &step->stderr_stream, &stderr_keys, options);
	if (step->limit_hit)
		json_add_str(map, "limit_hit", str_of(step->limit_hit));
	else
		json_add(map, "limit_hit", NULL);
	json_add_int(map, "left_processes", step->left_processes);
	if (step->error.status)
		json_add(map, "error", error_json(&step->error));
	return map;
}

struct json_object *record_json(const struct record *record, const struct record_json_options *options)
{
	struct json_object *map = json_map(), *box = json_map();
	json_add_str(map, "case", record->name);
	json_add_str(map, "language", str_of(record->language));
	json_add_str(map, "isolation", str_of(record->isolation));
	json_add(box, "protections", protections_json(&record->protections));
	json_add(map, "box", box);
	json_add(map, "build", record->build ? step_json(record->build, options) : NULL);
	json_add(map, "run", record->has_run ? step_json(&record->run, options) : NULL);
	return map;
}
