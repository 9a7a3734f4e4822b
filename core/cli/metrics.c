/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quantity.h"
#include "base/str.h"
#include "batch/summary.h"
#include "cli/common.h"
#include <stdio.h>

#define KS_MAX 32

struct metrics_options {
	char **files;
	size_t file_count;
	int64_t ks[KS_MAX + 1]; /* ends with 0 */
	bool as_json;
};

enum { KEY_K = 2000, KEY_JSON };

static const struct argp_option options[] = {
    {"k", KEY_K, "K,...", 0, "Which pass@k (default: 1,5,10,100, as far as there are samples)", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {0},
};

static void parse_ks(struct metrics_options *metrics, char *text, struct argp_state *state)
{
	struct assay_str rest = str_of(text), part;
	size_t count = 0;
	while (str_cut(&rest, ',', &part)) {
		if (count == KS_MAX || !parse_int64(part, &metrics->ks[count]) || metrics->ks[count] < 1)
			argp_error(state, "--k takes whole numbers from 1 on, such as 1,10, not '%s'", text);
		count++;
	}
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct metrics_options *metrics = state->input;
	switch (key) {
	case KEY_K:
		parse_ks(metrics, value, state);
		return 0;
	case KEY_JSON:
		metrics->as_json = true;
		return 0;
	case ARGP_KEY_ARGS:
		metrics->files = state->argv + state->next;
		metrics->file_count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name the result files");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options,
                                 parse,
                                 "RESULTS.jsonl...",
                                 "pass@k and outcomes of result files, taken together (the shards of a run).",
                                 NULL,
                                 NULL,
                                 NULL};

static void add_line(void *arg, const struct result_line *line)
{
	summary_add(arg, line);
}

int verb_metrics(int argc, char **argv)
{
	struct metrics_options metrics = {0};
	struct assay_error err = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &metrics);
	struct summary *summary = summary_new();
	int status = 0;
	for (size_t i = 0; status == 0 && i < metrics.file_count; i++)
		status = results_read(metrics.files[i], add_line, summary, &err);
	if (status == 0 && summary_total(summary) == 0)
		status = error_set(&err, ASSAY_INVALID, 0, "there are no results in what was named");
	auto_buffer struct buffer text = {0};
	const int64_t *ks = metrics.ks[0] ? metrics.ks : NULL;
	if (status == 0 && metrics.as_json) {
		auto_json struct json_object *map = summary_json(summary, ks);
		json_print(map, &text);
		buffer_append_char(&text, '\n');
	} else if (status == 0) {
		summary_print(summary, ks, &text);
	}
	fwrite(text.data ? text.data : "", 1, text.len, stdout);
	summary_free(summary);
	return status ? report(&err) : EXIT_OK;
}
