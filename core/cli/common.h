/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share: where things are, how errors are told, exit codes. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include "pipeline/engine.h"
#include <argp.h>

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* the evaluated program or a check failed */
	EXIT_USAGE = 2,
	EXIT_CONFIGURATION = 3, /* configuration, plugin or input file */
	EXIT_HOST = 4,          /* the host lacks something */
	EXIT_INTERNAL = 5,
	EXIT_TIME_LIMIT = 124,
	EXIT_SIGNAL = 128, /* plus the signal */
};

/* A verb of the command line: argv[0] is "assay VERB". */
typedef int (*verb_fn)(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_eval(int argc, char **argv);
int verb_prompts(int argc, char **argv);
int verb_metrics(int argc, char **argv);
int verb_plugins(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_doctor(int argc, char **argv);

/* Prints the error; returns its exit code. */
int report(const struct assay_error *err);
/* The exit code of a status. */
int exit_code_of(int status);

#define PLUGIN_ROOTS_MAX 16

/* Where plugins, configuration and the spawner are; options that every verb with plugins takes. */
struct places {
	const char *plugin_roots[PLUGIN_ROOTS_MAX + 1];
	size_t plugin_root_count;
	const char *conf_root;
	const char *spawner;
	struct arena *arena; /* of what was not given */
};

/* An argp child with --plugin-path and --conf; its input is a struct places. */
extern const struct argp places_argp;
/* Fills in what the options left open, from the environment and the program's own place. After parsing. */
int places_complete(struct places *places, struct assay_error *err);
void places_close(struct places *places); /* accepts a zeroed one */
int places_open_engine(const struct places *places, int slots, struct engine **ret, struct assay_error *err);
int places_open_registry(const struct places *places, struct registry **ret, struct assay_error *err);

/* Parsers of option values; on a bad one they end the program with a usage error. */
int64_t option_count(struct argp_state *state, const char *name, const char *text, int64_t min, int64_t max);
int64_t option_seconds(struct argp_state *state, const char *name, const char *text); /* "2", "0.5" or "500ms"; in ns */
uint64_t option_size(struct argp_state *state, const char *name, const char *text);

#endif
