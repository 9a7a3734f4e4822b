/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that read standard input and write standard output. Rows are those of SandboxFusion's CommonOJ: id, content,
 * test = [{input: {stdin}, output: {stdout}}], labels; the test column may be JSON text. The expected outputs stay
 * here: what enters the box is the program and one input.
 */
#include <assay/dataset.h>
#include <assay/text.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum extraction { EXTRACT_AUTO, EXTRACT_FENCED, EXTRACT_NONE };

struct stdio_dataset {
	const struct assay_host *host;
	struct assay_comparison how;
	enum extraction extraction;
};

/* A tolerance that is negative, endless or no number would accept nothing or everything. */
static int read_tolerance(const struct assay_host *host, const struct assay_node *node, double *ret,
                          struct assay_error *err)
{
	int status = host->node_real(node, ret, err);
	if (status == ASSAY_OK && !(*ret >= 0 && *ret <= DBL_MAX))
		return host->fail_at(err, node, "a tolerance is a number that is not negative");
	return status;
}

static int read_options(struct stdio_dataset *self, const struct assay_node *options, struct assay_error *err)
{
	const struct assay_host *host = self->host;
	struct assay_str extraction;
	self->how.size = sizeof(self->how);
	int status = host->node_str(host->node_get(options, "compare"), &self->how.mode, err);
	if (status == ASSAY_OK)
		status = read_tolerance(host, host->node_get(options, "absolute_tolerance"),
		                        &self->how.absolute_tolerance, err);
	if (status == ASSAY_OK)
		status = read_tolerance(host, host->node_get(options, "relative_tolerance"),
		                        &self->how.relative_tolerance, err);
	if (status == ASSAY_OK)
		status = host->node_str(host->node_get(options, "extract"), &extraction, err);
	if (status == ASSAY_OK)
		self->extraction = assay_text_is(extraction, "fenced") ? EXTRACT_FENCED
		                   : assay_text_is(extraction, "none") ? EXTRACT_NONE
		                                                       : EXTRACT_AUTO;
	return status;
}

static int stdio_create(const struct assay_host *host, const struct assay_node *options, void **ret_self,
                        struct assay_error *err)
{
	struct stdio_dataset *self = (struct stdio_dataset *)calloc(1, sizeof(*self));
	if (!self)
		return host->fail(err, ASSAY_INTERNAL, 0, "out of memory");
	self->host = host;
	int status = read_options(self, options, err);
	if (status) {
		free(self);
		return status;
	}
	*ret_self = self;
	return ASSAY_OK;
}

static void stdio_destroy(void *self)
{
	free(self);
}

static int stdio_prompt(void *self_, const struct assay_problem *problem, const struct assay_prompt_sink *sink,
                        struct assay_error *err)
{
	const struct assay_host *host = ((const struct stdio_dataset *)self_)->host;
	struct assay_str content;
	int status = host->node_str(host->node_get(problem->row, "content"), &content, err);
	if (status)
		return status;
	return sink->prompt(
	    sink->arg,
	    host->format(problem->scope,
	                 "%.*s\n\nAnswer with one complete program in a fenced code block. It reads its input "
	                 "from standard input and writes its answer, and nothing else, to standard output.",
	                 (int)content.len, content.ptr),
	    err);
}

/* The list of tests, parsed when the column holds text. */
static int read_tests(const struct assay_host *host, const struct assay_problem *problem, const struct assay_node **ret,
                      struct assay_error *err)
{
	const struct assay_node *tests = host->node_get(problem->row, "test");
	struct assay_str text;
	if (host->node_kind(tests) == ASSAY_NODE_STRING) {
		int status = host->node_str(tests, &text, err);
		if (status == ASSAY_OK)
			status = host->node_parse(problem->scope, text, &tests, err);
		if (status)
			return status;
	}
	if (host->node_kind(tests) != ASSAY_NODE_LIST || host->node_count(tests) == 0)
		return host->fail_at(err, problem->row, "the row has no tests: nothing could be judged");
	*ret = tests;
	return ASSAY_OK;
}

static int read_side(const struct assay_host *host, const struct assay_node *test, const char *side, const char *stream,
                     struct assay_str *ret, struct assay_error *err)
{
	const struct assay_node *map = host->node_get(test, side), *value = host->node_get(map, stream);
	if (!value)
		return host->fail_at(err, test, "a test needs %s.%s", side, stream);
	return host->node_str(value, ret, err);
}

static int emit_tests(const struct assay_host *host, const struct assay_problem *problem,
                      const struct assay_node *tests, const struct assay_case_sink *sink, struct assay_error *err)
{
	int status = ASSAY_OK;
	for (size_t i = 0; status == ASSAY_OK && i < host->node_count(tests); i++) {
		struct assay_case test = {0};
		test.size = sizeof(test);
		test.name = host->format(problem->scope, "%zu", i + 1);
		status = read_side(host, host->node_at(tests, i), "input", "stdin", &test.stdin_data, err);
		if (status == ASSAY_OK)
			status = read_side(host, host->node_at(tests, i), "output", "stdout", &test.secret, err);
		if (status == ASSAY_OK)
			status = sink->test(sink->arg, &test, err);
	}
	return status;
}

/* What begins with a fence or with reasoning is no program as it stands, even if no code is found in it. */
static int is_answer(struct assay_str completion)
{
	while (completion.len > 0 && strchr(" \t\r\n", completion.ptr[0])) {
		completion.ptr++;
		completion.len--;
	}
	return assay_text_starts_with(completion, "```") || assay_text_starts_with(completion, "~~~") ||
	       assay_text_starts_with(completion, "<think>");
}

static int take_code(const struct stdio_dataset *self, const struct assay_submission *submission,
                     struct assay_extraction *ret, struct assay_error *err)
{
	ret->size = sizeof(*ret);
	ret->type = "empty";
	ret->code = assay_text("");
	int status = ASSAY_OK;
	if (self->extraction != EXTRACT_NONE)
		status = self->host->extract(submission->problem->scope, submission->completion, submission->language,
		                             ret, err);
	int is_fenced = strcmp(ret->type, "fenced") == 0 || strcmp(ret->type, "incomplete_fenced") == 0;
	if (status || self->extraction == EXTRACT_FENCED || is_fenced ||
	    (self->extraction == EXTRACT_AUTO && is_answer(submission->completion)))
		return status;
	ret->type = "raw";
	ret->code = submission->completion;
	return status;
}

static int stdio_cases(void *self_, const struct assay_submission *submission, const struct assay_case_sink *sink,
                       struct assay_error *err)
{
	const struct stdio_dataset *self = (const struct stdio_dataset *)self_;
	const struct assay_host *host = self->host;
	const struct assay_node *tests = NULL;
	struct assay_extraction code;
	if (submission->language.len == 0)
		return host->fail(err, ASSAY_INVALID, 0,
		                  "problems of this type are solved in any language: say which, with --language or a "
		                  "\"language\" in the completion's line");
	int status = read_tests(host, submission->problem, &tests, err);
	if (status == ASSAY_OK)
		status = take_code(self, submission, &code, err);
	if (status == ASSAY_OK)
		status = sink->extracted(sink->arg, code.code, code.type, err);
	if (status)
		return status;
	if (assay_text_is_blank(code.code))
		return sink->reject(sink->arg, ASSAY_OUTCOME_NO_CODE, assay_text("the completion holds no code"), err);
	status = sink->source(sink->arg, submission->language, code.code, err);
	return status ? status : emit_tests(host, submission->problem, tests, sink, err);
}

static int stdio_check(void *self_, const struct assay_submission *submission, const struct assay_observation *seen,
                       const struct assay_check_sink *sink, struct assay_error *err)
{
	const struct stdio_dataset *self = (const struct stdio_dataset *)self_;
	const struct assay_host *host = self->host;
	struct assay_scope *scope = submission->problem->scope;
	if (seen->return_code != 0) {
		struct assay_str reason = assay_text_last_line(seen->stderr_data);
		return sink->outcome(sink->arg, ASSAY_OUTCOME_RUNTIME_ERROR,
		                     host->format(scope, "exit code %d%s%.*s", seen->return_code,
		                                  reason.len ? ": " : "", (int)reason.len,
		                                  reason.len ? reason.ptr : ""),
		                     err);
	}
	int equal = 0;
	struct assay_str difference = {"", 0};
	int status = host->compare(scope, &self->how, seen->stdout_data, seen->secret, &equal, &difference, err);
	if (status)
		return status;
	return sink->outcome(sink->arg, equal ? ASSAY_OUTCOME_ACCEPTED : ASSAY_OUTCOME_WRONG_ANSWER, difference, err);
}

static const struct assay_dataset_ops ops = {sizeof(ops),  stdio_create, stdio_destroy,
                                             stdio_prompt, stdio_cases,  stdio_check};

ASSAY_PLUGIN(stdio, ASSAY_KIND_DATASET, "1.0.0", &ops);
