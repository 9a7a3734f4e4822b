/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "base/str.h"
#include "pipeline/planner.h"
#include <limits.h>
#include <stdio.h>

int exit_code_of(int status)
{
	switch (status) {
	case ASSAY_OK:
		return EXIT_OK;
	case ASSAY_INVALID:
	case ASSAY_LIMIT:
		return EXIT_CONFIGURATION;
	case ASSAY_MISSING:
		return EXIT_HOST;
	default:
		return EXIT_INTERNAL;
	}
}

int report(const struct assay_error *err)
{
	char text[ERROR_TEXT_MAX];
	log_line(LOG_ERROR, "%s", error_format(err, text, sizeof(text)));
	return exit_code_of(err->status);
}

/* -- places -- */

enum { KEY_PLUGIN_PATH = 1000, KEY_CONF };

static const struct argp_option places_options[] = {
    {"plugin-path", KEY_PLUGIN_PATH, "DIR", 0,
     "Look for plugins in DIR/languages/, DIR/datasets/, ... first (repeatable)", 90},
    {"conf", KEY_CONF, "DIR", 0, "Take pipelines and datasets from DIR", 90},
    {0},
};

/* False when there are too many. */
static bool add_root(struct places *places, const char *root)
{
	if (places->plugin_root_count == PLUGIN_ROOTS_MAX)
		return false;
	places->plugin_roots[places->plugin_root_count++] = root;
	return true;
}

static error_t parse_places(int key, char *value, struct argp_state *state)
{
	struct places *places = state->input;
	if (key == KEY_CONF)
		places->conf_root = value;
	else if (key != KEY_PLUGIN_PATH)
		return ARGP_ERR_UNKNOWN;
	else if (!add_root(places, value))
		argp_error(state, "--plugin-path can be given %d times at most", PLUGIN_ROOTS_MAX);
	return 0;
}

const struct argp places_argp = {places_options, parse_places, NULL, NULL, NULL, NULL, NULL};

/* The <prefix> of <prefix>/bin/assay: the build tree and the installed one are laid out alike. */
static int find_prefix(char path[PATH_MAX], struct assay_error *err)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	if (n < 0)
		return error_set(err, ASSAY_SYSTEM, errno,
		                 "cannot find out where this program lies (is /proc mounted?)");
	path[n] = 0;
	for (int up = 0; up < 2 && strrchr(path, '/'); up++)
		*strrchr(path, '/') = 0;
	return 0;
}

int places_complete(struct places *places, struct assay_error *err)
{
	char prefix[PATH_MAX];
	int status = find_prefix(prefix, err);
	if (status)
		return status;
	struct arena *arena = places->arena = arena_new();
	struct assay_str rest = str_of(getenv("ASSAY_PLUGIN_PATH")), root;
	bool has_room = true;
	while (str_cut(&rest, ':', &root))
		if (root.len > 0)
			has_room &= add_root(places, arena_copy(arena, root).ptr);
	has_room &= add_root(places, arena_printf(arena, "%s/lib/assay/plugins", prefix).ptr);
	places->spawner = arena_printf(arena, "%s/libexec/assay/assay-spawner", prefix).ptr;
	const char *conf_root = getenv("ASSAY_CONF");
	if (!places->conf_root && conf_root && *conf_root)
		places->conf_root = conf_root;
	if (!places->conf_root)
		places->conf_root = arena_printf(arena, "%s/share/assay/conf", prefix).ptr;
	return has_room
	           ? 0
	           : error_set(err, ASSAY_INVALID, 0, "--plugin-path and ASSAY_PLUGIN_PATH name more than %d folders",
	                       PLUGIN_ROOTS_MAX - 1);
}

void places_close(struct places *places)
{
	arena_free(places->arena);
	places->arena = NULL;
}

int places_open_engine(const struct places *places, int slots, struct engine **ret, struct assay_error *err)
{
	const struct engine_config config = {
	    .plugin_roots = places->plugin_roots, .spawner = places->spawner, .slots = slots};
	return engine_open(&config, ret, err);
}

int places_open_registry(const struct places *places, struct registry **ret, struct assay_error *err)
{
	return registry_open(places->plugin_roots, PLANNER_PATH, ret, err);
}

/* -- option values -- */

int64_t option_count(struct argp_state *state, const char *name, const char *text, int64_t min, int64_t max)
{
	int64_t value;
	if (!parse_int64(str_of(text), &value) || value < min || value > max)
		argp_error(state, "%s takes a whole number from %lld to %lld, not '%s'", name, (long long)min,
		           (long long)max, text);
	return value;
}

#define SECONDS_MAX (24 * 3600)

int64_t option_seconds(struct argp_state *state, const char *name, const char *text)
{
	double seconds;
	int64_t ns = 0;
	if (parse_real(str_of(text), &seconds))
		ns = seconds > 0 && seconds <= SECONDS_MAX ? (int64_t)(seconds * 1e9) : 0;
	else if (!parse_duration(str_of(text), &ns))
		ns = 0;
	if (ns <= 0 || ns > SECONDS_MAX * NS_PER_S)
		argp_error(state,
		           "%s takes a time above 0 and up to 24h, in seconds or with a unit (2, 0.5, 500ms), not '%s'",
		           name, text);
	return ns;
}

uint64_t option_size(struct argp_state *state, const char *name, const char *text)
{
	uint64_t bytes = 0;
	if (!parse_size(str_of(text), &bytes) || bytes < (UINT64_C(4) << 20))
		argp_error(state, "%s takes a size with its unit, at least 4MiB (256MiB, 1GiB), not '%s'", name, text);
	return bytes;
}
