/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/error.h"
#include "cli/source.h"
#include "data/json.h"
#include <stdio.h>

struct prompts_options {
	struct places places;
	struct dataset_options dataset;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct prompts_options *prompts = state->input;
	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = &prompts->dataset;
		state->child_inputs[1] = &prompts->places;
		return 0;
	}
	if (key == ARGP_KEY_ARG)
		argp_error(state, "'%s' is no option", value);
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
    {&dataset_argp, 0, NULL, 0}, {&places_argp, 0, "Where things are:", 90}, {0}};
static const struct argp argp = {
    NULL, parse, "--dataset NAME|FILE", "Print a dataset's prompts as JSON lines.", children, NULL, NULL};

static int print_prompt(const struct dataset_source *source, size_t index, struct assay_error *err)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *row, *id;
	struct assay_str column, prompt;
	int status = rows_parse(source->rows, index, arena, &row, err);
	if (status == 0)
		status = dataset_row_id(source->dataset, row, &id, &column, err);
	if (status == 0)
		status = dataset_prompt(source->dataset, arena, row, &prompt, err);
	if (status)
		return status;
	auto_json struct json_object *line = json_map();
	auto_buffer struct buffer text = {0};
	json_add_copied(line, column.ptr, json_of_node(id));
	json_add_str(line, "prompt", prompt);
	json_print(line, &text);
	printf("%s\n", text.data);
	return 0;
}

int verb_prompts(int argc, char **argv)
{
	struct prompts_options prompts = {0};
	struct assay_error err = {0};
	struct registry *registry = NULL;
	struct dataset_source source = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &prompts);
	int status = places_complete(&prompts.places, &err);
	if (status == 0)
		status = places_open_registry(&prompts.places, &registry, &err);
	if (status == 0)
		status = dataset_source_open(registry, prompts.places.conf_root, &prompts.dataset, &source, &err);
	for (size_t i = 0; status == 0 && i < rows_count(source.rows); i++)
		status = print_prompt(&source, i, &err);
	dataset_source_close(&source);
	registry_close(registry);
	places_close(&prompts.places);
	return status ? report(&err) : EXIT_OK;
}
