/* SPDX-License-Identifier: Apache-2.0 */
/* Drives one dataset type of the build tree through the ABI and keeps what it pushes. */
#ifndef TESTS_PLUGINS_DATASET_H
#define TESTS_PLUGINS_DATASET_H

#include "support.h"
#include "data/json.h"
#include "plugin/host.h"
#include "plugin/registry.h"
#include <assay/dataset.h>

#define CASES_MAX 8

struct bench {
	struct arena *arena;
	struct plugin plugin;
	const struct assay_dataset_ops *ops;
	void *self;
	struct assay_error err;
	/* what the last ask() pushed */
	struct assay_str code, language, source, detail, prompt;
	const char *type;
	enum assay_outcome rejection;
	struct assay_case cases[CASES_MAX];
	size_t case_count, source_count, extracted_count;
	size_t refuse_at; /* the push that fails, counted from 1; 0: none */
	size_t pushes;
};

static inline int bench_push(struct bench *bench, struct assay_error *err)
{
	bench->pushes++;
	return bench->pushes == bench->refuse_at ? error_set(err, ASSAY_LIMIT, 0, "full") : 0;
}

static inline int bench_extracted(void *arg, struct assay_str code, const char *type, struct assay_error *err)
{
	struct bench *bench = arg;
	bench->extracted_count++;
	bench->code = arena_copy(bench->arena, code);
	bench->type = type;
	return bench_push(bench, err);
}

static inline int bench_source(void *arg, struct assay_str language, struct assay_str code, struct assay_error *err)
{
	struct bench *bench = arg;
	bench->source_count++;
	bench->language = arena_copy(bench->arena, language);
	bench->source = arena_copy(bench->arena, code);
	return bench_push(bench, err);
}

static inline int bench_test(void *arg, const struct assay_case *test, struct assay_error *err)
{
	struct bench *bench = arg;
	assert_true(bench->case_count < CASES_MAX);
	struct assay_case *copy = &bench->cases[bench->case_count++];
	*copy = *test;
	copy->name = arena_copy(bench->arena, test->name);
	copy->stdin_data = arena_copy(bench->arena, test->stdin_data);
	copy->secret = arena_copy(bench->arena, test->secret);
	return bench_push(bench, err);
}

static inline int bench_reject(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err)
{
	struct bench *bench = arg;
	bench->rejection = outcome;
	bench->detail = arena_copy(bench->arena, detail);
	return bench_push(bench, err);
}

static inline int bench_prompt(void *arg, struct assay_str text, struct assay_error *err)
{
	struct bench *bench = arg;
	bench->prompt = arena_copy(bench->arena, text);
	return bench_push(bench, err);
}

static inline const struct assay_node *bench_json(struct bench *bench, const char *text)
{
	const struct assay_node *node;
	if (json_parse(bench->arena, str_of(text), "rows.jsonl", 7, &node, &bench->err))
		fail_msg("%s in %s", bench->err.message, text);
	return node;
}

/* An instance with these options (JSON, or NULL), in place of the one before. */
static inline int bench_options(struct bench *bench, const char *options)
{
	const struct assay_node *all;
	bench->ops->destroy(bench->self);
	bench->self = NULL;
	int status = descriptor_options(bench->arena, &bench->plugin.descriptor,
	                                options ? bench_json(bench, options) : NULL, &all, &bench->err);
	return status ? status : bench->ops->create(&host_services, all, &bench->self, &bench->err);
}

static inline struct bench *bench_open(const char *name)
{
	struct bench *bench = xmalloc(sizeof(*bench));
	bench->arena = arena_new();
	const char *roots[] = {build_path(bench->arena, "lib/assay/plugins"), NULL};
	const char *folder = arena_printf(bench->arena, "%s/datasets/%s", roots[0], name).ptr;
	assert_int_equal(registry_read_plugin(bench->arena, folder, roots, &bench->plugin, &bench->err), 0);
	if (bench->plugin.problem.status)
		fail_msg("%s", bench->plugin.problem.message);
	bench->ops = bench->plugin.module->ops;
	assert_int_equal(bench_options(bench, NULL), 0);
	return bench;
}

static inline int bench_close(void **state)
{
	struct bench *bench = *state;
	bench->ops->destroy(bench->self);
	arena_free(bench->arena);
	free(bench);
	return 0;
}

/* The cases of a completion. */
static inline int bench_ask(struct bench *bench, const char *row, struct assay_str completion, const char *language)
{
	const struct assay_problem problem = {
	    .size = sizeof(problem), .scope = scope_of(bench->arena), .row = bench_json(bench, row)};
	const struct assay_submission submission = {
	    .size = sizeof(submission), .problem = &problem, .completion = completion, .language = str_of(language)};
	const struct assay_case_sink sink = {.size = sizeof(sink),
	                                     .arg = bench,
	                                     .extracted = bench_extracted,
	                                     .source = bench_source,
	                                     .test = bench_test,
	                                     .reject = bench_reject};
	bench->case_count = bench->source_count = bench->extracted_count = bench->pushes = 0;
	bench->rejection = ASSAY_OUTCOME_NONE;
	bench->type = "";
	bench->source = bench->code = STR("");
	bench->err = (struct assay_error){0};
	return bench->ops->cases(bench->self, &submission, &sink, &bench->err);
}

static inline int bench_ask_prompt(struct bench *bench, const char *row)
{
	const struct assay_problem problem = {
	    .size = sizeof(problem), .scope = scope_of(bench->arena), .row = bench_json(bench, row)};
	const struct assay_prompt_sink sink = {.size = sizeof(sink), .arg = bench, .prompt = bench_prompt};
	bench->pushes = 0;
	return bench->ops->prompt(bench->self, &problem, &sink, &bench->err);
}

struct bench_outcome {
	enum assay_outcome outcome;
	struct assay_str detail;
	struct arena *arena;
	int count;
};

static inline int bench_take_outcome(void *arg, enum assay_outcome outcome, struct assay_str detail,
                                     struct assay_error *err)
{
	struct bench_outcome *seen = arg;
	(void)err;
	seen->outcome = outcome;
	seen->detail = arena_copy(seen->arena, detail);
	seen->count++;
	return 0;
}

/* What check() says of an observation; its detail lands in bench->detail. */
static inline enum assay_outcome bench_check(struct bench *bench, struct assay_observation seen)
{
	const struct assay_problem problem = {.size = sizeof(problem), .scope = scope_of(bench->arena)};
	const struct assay_submission submission = {.size = sizeof(submission), .problem = &problem};
	struct bench_outcome result = {.arena = bench->arena};
	const struct assay_check_sink sink = {.size = sizeof(sink), .arg = &result, .outcome = bench_take_outcome};
	seen.size = sizeof(seen);
	assert_int_equal(bench->ops->check(bench->self, &submission, &seen, &sink, &bench->err), 0);
	assert_int_equal(result.count, 1);
	for (size_t i = 0; i < result.detail.len; i++)
		assert_int_not_equal(result.detail.ptr[i], '\n');
	assert_true(result.detail.len <= 400);
	bench->detail = result.detail;
	return result.outcome;
}

#define assert_view(view, text) assert_string_equal((view).len ? (view).ptr : "", (text))

#endif
