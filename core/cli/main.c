/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/str.h"
#include "cli/common.h"
#include <signal.h>
#include <stdio.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "unknown"
#endif

static const struct {
	const char *name, *usage, *what;
	verb_fn run;
} verbs[] = {
    {"run", "--language L SOURCE", "run one program under limits; its output and exit code are its own", verb_run},
    {"eval", "--dataset D --completions F --output F", "judge a file of completions", verb_eval},
    {"prompts", "--dataset D", "print a dataset's prompts as JSON lines", verb_prompts},
    {"metrics", "RESULTS...", "pass@k and outcomes of result files", verb_metrics},
    {"plugins", "[KIND]", "list languages, isolation backends and dataset types", verb_plugins},
    {"check", "PLUGIN_DIR...", "test whether a plugin keeps its contract", verb_check},
    {"doctor", "", "say what this host can do, and what to install", verb_doctor},
};

static void help(FILE *out)
{
	fprintf(out, "Assay runs and judges code written by language models.\n\n");
	fprintf(out, "Usage: assay VERB [OPTION...] [ARGUMENT...]\n\n");
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		fprintf(out, "  %-8s %-41s %s\n", verbs[i].name, verbs[i].usage, verbs[i].what);
	fprintf(out, "\nExamples:\n"
	             "  assay run --language python --timeout 2 --memory 256MiB main.py\n"
	             "  assay eval --dataset HumanEval.jsonl.gz --completions samples.jsonl --output results.jsonl\n\n"
	             "'assay VERB --help' says more about a verb. Exit codes: 0 ok, 1 the program or a check failed,\n"
	             "2 usage, 3 configuration or input, 4 the host lacks something, 5 a fault of Assay.\n");
}

static int unknown_verb(const char *name)
{
	const char *names[COUNT_OF(verbs) + 1] = {0};
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		names[i] = verbs[i].name;
	const char *near = str_nearest(str_of(name), names);
	if (near)
		log_line(LOG_ERROR, "unknown verb '%s'; did you mean '%s'?", name, near);
	else
		log_line(LOG_ERROR, "unknown verb '%s'; 'assay --help' lists them", name);
	return EXIT_USAGE;
}

/* Output that got lost (a full disk) must not look like success. */
static int finish_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	log_line(LOG_ERROR, "cannot write standard output: %s", strerror(errno));
	return code == EXIT_OK ? EXIT_INTERNAL : code;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return finish_output(EXIT_OK);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("assay %s (plugin ABI %d.%d)\n", ASSAY_VERSION, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
		return EXIT_OK;
	}
	argp_err_exit_status = EXIT_USAGE;
	signal(SIGXFSZ, SIG_IGN); /* a file limit of the shell is an error to tell, like a full disk */
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name))
			continue;
		char name[32];
		snprintf(name, sizeof(name), "assay %s", verbs[i].name);
		argv[1] = name;
		return finish_output(verbs[i].run(argc - 1, argv + 1));
	}
	return unknown_verb(argv[1]);
}
