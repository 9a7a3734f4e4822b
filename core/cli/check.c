/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/common.h"
#include "plugin/contract.h"
#include <stdio.h>

struct check_options {
	struct places places;
	char **folders;
	size_t folder_count;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
	(void)value;
	struct check_options *check = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &check->places;
		return 0;
	case ARGP_KEY_ARGS:
		check->folders = state->argv + state->next;
		check->folder_count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name the plugin's folder, the one that holds plugin.yaml");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&places_argp, 0, "Where things are:", 90}, {0}};
static const struct argp argp = {NULL, parse, "PLUGIN_DIR...", "Test whether plugins keep their contract.", children,
                                 NULL, NULL};

static void print_check(void *arg, const char *check, bool passed, const char *detail)
{
	(void)arg;
	printf("  %-6s %s%s%s\n", passed ? "ok" : "FAILED", check, *detail ? ": " : "", detail);
}

int verb_check(int argc, char **argv)
{
	struct check_options check = {0};
	struct assay_error err = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &check);
	int failures = 0;
	if (places_complete(&check.places, &err)) {
		places_close(&check.places);
		return report(&err);
	}
	for (size_t i = 0; i < check.folder_count; i++) {
		printf("%s\n", check.folders[i]);
		failures += contract_check(check.folders[i], check.places.plugin_roots, print_check, NULL);
	}
	places_close(&check.places);
	return failures ? EXIT_FAILED : EXIT_OK;
}
