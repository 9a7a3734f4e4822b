/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/contract.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include "data/json.h"
#include "data/lines.h"
#include "plugin/host.h"
#include "plugin/registry.h"
#include "plugin/symbols.h"
#include <assay/dataset.h>
#include <assay/isolation.h>
#include <assay/language.h>
#include <limits.h>
#include <stdio.h>

struct contract {
	contract_report_fn report;
	void *arg;
	int failures;
	struct arena *arena;
	const struct plugin *plugin;
	const struct assay_node *options; /* the defaults */
};

static void tell(struct contract *contract, const char *check, bool passed, const char *detail)
{
	contract->report(contract->arg, check, passed, passed ? "" : detail);
	contract->failures += !passed;
}

static void tell_status(struct contract *contract, const char *check, int status, const struct assay_error *err)
{
	char text[ERROR_TEXT_MAX];
	if (status && !err->message[0]) {
		tell(contract, check, false, "it failed without saying why: fail() of the host fills the error");
		return;
	}
	tell(contract, check, status == 0, status ? error_format(err, text, sizeof(text)) : "");
}

static int count_descriptors(void)
{
	int count = 0;
	auto_closedir DIR *dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		count++;
	return count;
}

/* -- sinks: they count, and fail when told to -- */

struct tally {
	int files, runs, builds, protections, sources, tests, rejections, outcomes, prompts;
	bool has_bad_path, has_bad_argv, has_unnamed, has_bad_outcome;
	bool refuse; /* every push fails, as a host's may */
	struct arena *arena;
	struct assay_str name, secret; /* of the first test */
};

#define REFUSAL (-4) /* a status of ours that an op must hand on */

static int take_file(void *arg, struct assay_str path, struct assay_str content, uint32_t mode, struct assay_error *err)
{
	(void)content;
	struct tally *tally = arg;
	tally->files++;
	tally->has_bad_path |= !path_is_plain(path) || (mode != 0644 && mode != 0755);
	return tally->refuse ? error_set(err, REFUSAL, 0, "refused") : 0;
}

static int take_step(void *arg, enum assay_phase phase, const char *const *argv, const char *const *env,
                     struct assay_error *err)
{
	struct tally *tally = arg;
	tally->runs += phase == ASSAY_PHASE_RUN;
	tally->builds += phase == ASSAY_PHASE_BUILD;
	tally->has_bad_argv |= !argv || !argv[0] || !argv[0][0];
	for (; env && *env; env++)
		tally->has_bad_argv |= !strchr(*env, '=');
	return tally->refuse ? error_set(err, REFUSAL, 0, "refused") : 0;
}

static int take_protection(void *arg, const char *protection, const char *mechanism, struct assay_error *err)
{
	struct tally *tally = arg;
	tally->protections++;
	tally->has_unnamed |= !protection || !*protection || !mechanism || !*mechanism;
	return tally->refuse ? error_set(err, REFUSAL, 0, "refused") : 0;
}

static int take_probe(void *arg, const char *protection, const char *mechanism, const char *missing,
                      struct assay_error *err)
{
	(void)missing;
	return take_protection(arg, protection, mechanism, err);
}

static int take_identity(void *arg, uint32_t uid, uint32_t gid, struct assay_error *err)
{
	(void)uid;
	(void)gid;
	(void)err;
	(void)arg;
	return 0;
}

static int take_extracted(void *arg, struct assay_str code, const char *type, struct assay_error *err)
{
	(void)code;
	(void)err;
	((struct tally *)arg)->has_unnamed |= !type;
	return 0;
}

static int take_source(void *arg, struct assay_str language, struct assay_str code, struct assay_error *err)
{
	(void)code;
	struct tally *tally = arg;
	tally->sources++;
	tally->has_unnamed |= language.len == 0;
	return tally->refuse ? error_set(err, REFUSAL, 0, "refused") : 0;
}

static int take_test(void *arg, const struct assay_case *test, struct assay_error *err)
{
	(void)err;
	struct tally *tally = arg;
	tally->has_unnamed |= test->name.len == 0;
	if (tally->tests++ == 0 && tally->arena) {
		tally->name = arena_copy(tally->arena, test->name);
		tally->secret = arena_copy(tally->arena, test->secret);
	}
	return 0;
}

static int take_reject(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err)
{
	(void)detail;
	(void)err;
	struct tally *tally = arg;
	tally->rejections++;
	tally->has_bad_outcome |= outcome <= ASSAY_OUTCOME_ACCEPTED || outcome > ASSAY_OUTCOME_INFRASTRUCTURE;
	return 0;
}

static int take_outcome(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err)
{
	(void)detail;
	(void)err;
	struct tally *tally = arg;
	tally->outcomes++;
	tally->has_bad_outcome |= outcome <= ASSAY_OUTCOME_NONE || outcome > ASSAY_OUTCOME_INFRASTRUCTURE;
	return 0;
}

static int take_prompt(void *arg, struct assay_str text, struct assay_error *err)
{
	(void)text;
	(void)err;
	((struct tally *)arg)->prompts++;
	return 0;
}

/* -- languages -- */

static int plan_source(struct contract *contract, void *self, struct assay_str code, struct tally *tally,
                       struct assay_error *err)
{
	const struct assay_language_ops *ops = contract->plugin->module->ops;
	const struct assay_source source = {.size = sizeof(source),
	                                    .scope = scope_of(contract->arena),
	                                    .code = code,
	                                    .options = contract->options,
	                                    .memory_bytes = UINT64_C(256) << 20};
	const struct assay_plan_sink sink = {.size = sizeof(sink), .arg = tally, .file = take_file, .step = take_step};
	return ops->plan(self, &source, &sink, err);
}

static void check_plan(struct contract *contract, void *self, const char *check, struct assay_str code)
{
	struct tally tally = {0};
	struct assay_error err = {0};
	int status = plan_source(contract, self, code, &tally, &err);
	if (status == 0 && (tally.runs != 1 || tally.builds > 1))
		status = error_set(&err, ASSAY_INTERNAL, 0, "it gave %d run steps and %d build steps", tally.runs,
		                   tally.builds);
	if (status == 0 && (tally.has_bad_path || tally.has_bad_argv))
		status = error_set(&err, ASSAY_INTERNAL, 0, "a path, mode, argv or env it gave is not well-formed");
	tell_status(contract, check, status, &err);
}

static void check_language(struct contract *contract)
{
	const struct assay_language_ops *ops = contract->plugin->module->ops;
	struct assay_error err = {0};
	void *self = NULL;
	ops->destroy(NULL);
	int status = ops->create(&host_services, contract->plugin->descriptor.root, &self, &err);
	tell_status(contract, "an instance is made", status, &err);
	if (status)
		return;
	struct tally refusing = {.refuse = true};
	struct assay_str large = {arena_alloc(contract->arena, 1 << 20), 1 << 20}; /* a megabyte of NULs */
	check_plan(contract, self, "a source is planned", STR("x"));
	check_plan(contract, self, "an empty source is planned", STR(""));
	check_plan(contract, self, "a large source of NUL bytes is planned", large);
	status = plan_source(contract, self, STR("x"), &refusing, &err);
	tell(contract, "a refusal of the host is handed on", status == REFUSAL,
	     "plan() went on after a push had failed");
	ops->destroy(self);
}

/* -- isolation -- */

static void check_isolation(struct contract *contract)
{
	const struct assay_isolation_ops *ops = contract->plugin->module->ops;
	struct assay_error err = {0};
	struct tally probed = {0}, planned = {0}, refusing = {.refuse = true};
	void *self = NULL;
	ops->destroy(NULL);
	int status = ops->create(&host_services, contract->options, &self, &err);
	tell_status(contract, "an instance is made", status, &err);
	if (status)
		return;
	const struct assay_probe_sink probe = {.size = sizeof(probe), .arg = &probed, .protection = take_probe};
	struct assay_box_sink box = {
	    .size = sizeof(box), .arg = &planned, .protection = take_protection, .identity = take_identity};
	tell_status(contract, "the host is probed", ops->probe(self, &probe, &err), &err);
	tell_status(contract, "a box is planned", ops->plan(self, &box, &err), &err);
	tell(contract, "protections have names and mechanisms",
	     planned.protections > 0 && probed.protections > 0 && !planned.has_unnamed && !probed.has_unnamed,
	     "one is missing or has none");
	box.arg = &refusing;
	tell(contract, "a refusal of the host is handed on", ops->plan(self, &box, &err) == REFUSAL,
	     "plan() went on after a push had failed");
	ops->destroy(self);
}

/* -- datasets -- */

/* What a program can leave behind: nothing, or bytes that are no text. */
static int check_outputs(struct contract *contract, void *self, const struct assay_submission *submission,
                         struct tally *tally, struct assay_error *err)
{
	static const struct assay_str outputs[] = {{NULL, 0}, {"\0\xff{\n", 4}};
	const struct assay_dataset_ops *ops = contract->plugin->module->ops;
	const struct assay_check_sink sink = {.size = sizeof(sink), .arg = tally, .outcome = take_outcome};
	for (size_t i = 0; i < COUNT_OF(outputs); i++) {
		const struct assay_observation seen = {.size = sizeof(seen),
		                                       .name = tally->name,
		                                       .secret = tally->secret,
		                                       .return_code = i ? -9 : 0,
		                                       .stdout_data = outputs[i],
		                                       .stderr_data = outputs[i],
		                                       .mark_data = outputs[i]};
		int status = ops->check(self, submission, &seen, &sink, err);
		if (status)
			return status;
		if (tally->outcomes != (int)i + 1)
			return error_set(err, ASSAY_INTERNAL, 0, "check() gave no outcome, or more than one");
	}
	return 0;
}

static int make_cases(struct contract *contract, void *self, const struct assay_node *row, struct assay_str completion,
                      struct assay_str language, struct tally *tally, struct assay_error *err)
{
	const struct assay_dataset_ops *ops = contract->plugin->module->ops;
	const struct assay_problem problem = {.size = sizeof(problem), .scope = scope_of(contract->arena), .row = row};
	const struct assay_submission submission = {
	    .size = sizeof(submission), .problem = &problem, .completion = completion, .language = language};
	tally->arena = contract->arena;
	const struct assay_case_sink sink = {.size = sizeof(sink),
	                                     .arg = tally,
	                                     .extracted = take_extracted,
	                                     .source = take_source,
	                                     .test = take_test,
	                                     .reject = take_reject};
	const struct assay_prompt_sink prompt = {.size = sizeof(prompt), .arg = tally, .prompt = take_prompt};
	int status = ops->prompt(self, &problem, &prompt, err);
	if (status == 0)
		status = ops->cases(self, &submission, &sink, err);
	if (status == 0 && tally->tests > 0)
		status = check_outputs(contract, self, &submission, tally, err);
	return status;
}

static void check_sample(struct contract *contract, void *self, struct assay_str text, const char *file, uint32_t line)
{
	const struct assay_node *sample = NULL;
	struct assay_str completion, language = {0};
	struct assay_error err = {0};
	struct tally tally = {0};
	int status = json_parse(contract->arena, text, file, line, &sample, &err);
	if (status == 0)
		status = node_str(node_get(sample, "completion"), &completion, &err);
	node_str(node_get(sample, "language"), &language, NULL);
	if (status == 0)
		status = make_cases(contract, self, node_get(sample, "row"), completion, language, &tally, &err);
	bool is_tested = tally.sources > 0 && tally.tests > 0;
	if (status == 0 && (tally.prompts != 1 || is_tested == (tally.rejections > 0) || tally.has_unnamed))
		status =
		    error_set(&err, ASSAY_INTERNAL, 0, "it gave %d prompts, %d sources, %d tests and %d rejections",
		              tally.prompts, tally.sources, tally.tests, tally.rejections);
	if (status == 0 && tally.has_bad_outcome)
		status = error_set(&err, ASSAY_INTERNAL, 0, "an outcome it gave is none it may give");
	char name[PATH_MAX + 40];
	snprintf(name, sizeof(name), "sample %s:%u becomes cases", file, line);
	tell_status(contract, name, status, &err);
}

/* Samples are welcome, not required; what is there must be well-formed. */
static void check_samples(struct contract *contract, void *self, const char *name)
{
	const char *path = arena_printf(contract->arena, "%s/tests/%s", contract->plugin->descriptor.folder, name).ptr;
	struct lines *lines;
	struct assay_str text;
	uint32_t number;
	struct assay_error err = {0};
	if (access(path, F_OK))
		return;
	int status = lines_open(path, &lines, &err);
	if (status) {
		tell_status(contract, "its samples are read", status, &err);
		return;
	}
	while ((status = lines_next(lines, &text, &number, &err)) > 0)
		check_sample(contract, self, text, path, number);
	tell_status(contract, "its samples are read", status, &err);
	lines_close(lines);
}

static void check_dataset(struct contract *contract)
{
	const struct assay_dataset_ops *ops = contract->plugin->module->ops;
	struct assay_error err = {0};
	struct tally tally = {0};
	void *self = NULL;
	ops->destroy(NULL);
	int status = ops->create(&host_services, contract->options, &self, &err);
	tell_status(contract, "an instance is made", status, &err);
	if (status)
		return;
	const struct assay_node *empty = node_new_parent(contract->arena, ASSAY_NODE_MAP, NULL, 0);
	status = make_cases(contract, self, empty, STR("x"), STR("python"), &tally, &err);
	tell(contract, "a row without columns is an error", status < 0 && tally.tests == 0 && err.message[0],
	     "it was accepted, or refused without a word");
	check_samples(contract, self, "good.jsonl");
	check_samples(contract, self, "bad.jsonl");
	ops->destroy(self);
}

/* -- the whole -- */

static void check_module(struct contract *contract)
{
	const struct plugin *plugin = contract->plugin;
	struct assay_error err = {0};
	tell_status(contract, "the descriptor is read and the module loaded", plugin->problem.status, &plugin->problem);
	if (plugin->problem.status)
		return;
	tell_status(contract, "the module exports one function",
	            symbols_check(plugin->module_path, plugin->descriptor.module.ptr, &err), &err);
	int status = descriptor_options(contract->arena, &plugin->descriptor, NULL, &contract->options, &err);
	tell_status(contract, "the options have defaults", status, &err);
	if (status)
		return;
	int before = count_descriptors();
	if (plugin->kind == ASSAY_KIND_LANGUAGE)
		check_language(contract);
	else if (plugin->kind == ASSAY_KIND_ISOLATION)
		check_isolation(contract);
	else
		check_dataset(contract);
	tell(contract, "no descriptor is leaked", count_descriptors() == before, "more are open than before");
}

int contract_check(const char *folder, const char *const *roots, contract_report_fn report, void *arg)
{
	struct contract contract = {.report = report, .arg = arg, .arena = arena_new()};
	struct assay_error err = {0};
	struct plugin plugin;
	char *absolute = realpath(folder, NULL);
	int status = absolute ? registry_read_plugin(contract.arena, absolute, roots, &plugin, &err)
	                      : error_set(&err, ASSAY_INVALID, errno, "cannot find '%s'", folder);
	if (status) {
		tell_status(&contract, "the descriptor is read and the module loaded", status, &err);
	} else {
		contract.plugin = &plugin;
		check_module(&contract);
	}
	free(absolute);
	arena_free(contract.arena);
	return contract.failures;
}
