/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HumanEval's format (M. Chen and others, 2021; github.com/openai/human-eval, execution.py): prompt + completion + test
 * + check(entry_point), accepted when that runs to its end.
 *
 * "To its end" is where the published grader can be fooled: it takes any silent exit for success. Here the program's
 * last statement writes a nonce, new for each submission, to a channel of its own, so that a program which exits before
 * its tests are over is not accepted, whatever way it exits. What this does not stop: code that looks for the nonce in
 * its own source or frames, for tests and completion share a process, as in the published grader.
 */
#include <assay/dataset.h>
#include <assay/text.h>
#include <stdlib.h>
#include <string.h>

enum mode { MODE_AUTO, MODE_COMPLETION, MODE_CHAT };

#define STOPS_MAX 32

struct humaneval {
	const struct assay_host *host;
	enum mode mode;
	struct assay_str stops[STOPS_MAX];
	size_t stop_count;
};

/* Offset of `needle` in `text`, or the text's length. */
static size_t find(struct assay_str text, struct assay_str needle)
{
	if (needle.len == 0 || text.len < needle.len)
		return text.len;
	for (size_t i = 0; i + needle.len <= text.len; i++) {
		const char *next = (const char *)memchr(text.ptr + i, needle.ptr[0], text.len - needle.len - i + 1);
		if (!next)
			return text.len;
		i = (size_t)(next - text.ptr);
		if (memcmp(next, needle.ptr, needle.len) == 0)
			return i;
	}
	return text.len;
}

/* -- options -- */

/* Section 3.2 of the paper. */
static const char *const codex_stops[] = {"\nclass", "\ndef", "\n#", "\nif", "\nprint"};

static int read_stops(struct humaneval *self, const struct assay_node *node, struct assay_error *err)
{
	struct assay_str list;
	int status = self->host->node_str(node, &list, err);
	if (status)
		return status;
	if (assay_text_is(list, "codex")) {
		self->stop_count = sizeof(codex_stops) / sizeof(*codex_stops);
		for (size_t i = 0; i < self->stop_count; i++)
			self->stops[i] = assay_text(codex_stops[i]);
		return ASSAY_OK;
	}
	while (list.len > 0) {
		struct assay_str stop = {list.ptr, find(list, assay_text("|"))};
		size_t taken = stop.len < list.len ? stop.len + 1 : stop.len;
		if (self->stop_count == STOPS_MAX)
			return self->host->fail_at(err, node, "more than %d stop sequences", STOPS_MAX);
		if (stop.len > 0)
			self->stops[self->stop_count++] = stop;
		list.ptr += taken;
		list.len -= taken;
	}
	return ASSAY_OK;
}

static int humaneval_create(const struct assay_host *host, const struct assay_node *options, void **ret_self,
                            struct assay_error *err)
{
	struct humaneval *self = (struct humaneval *)calloc(1, sizeof(*self));
	struct assay_str mode;
	if (!self)
		return host->fail(err, ASSAY_INTERNAL, 0, "out of memory");
	self->host = host;
	int status = host->node_str(host->node_get(options, "mode"), &mode, err);
	if (status == ASSAY_OK) {
		self->mode = assay_text_is(mode, "chat")   ? MODE_CHAT
		             : assay_text_is(mode, "auto") ? MODE_AUTO
		                                           : MODE_COMPLETION;
		status = read_stops(self, host->node_get(options, "stop"), err);
	}
	if (status) {
		free(self);
		return status;
	}
	*ret_self = self;
	return ASSAY_OK;
}

static void humaneval_destroy(void *self)
{
	free(self);
}

/* -- a row -- */

struct row {
	struct assay_str prompt, test, entry_point;
};

static int read_row(const struct humaneval *self, const struct assay_node *node, struct row *ret,
                    struct assay_error *err)
{
	const struct assay_host *host = self->host;
	const struct {
		const char *column;
		struct assay_str *place;
	} columns[] = {{"prompt", &ret->prompt}, {"test", &ret->test}, {"entry_point", &ret->entry_point}};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		const struct assay_node *value = host->node_get(node, columns[i].column);
		if (!value)
			return host->fail_at(err, node, "the row lacks the column '%s'", columns[i].column);
		int status = host->node_str(value, columns[i].place, err);
		if (status)
			return status;
	}
	if (assay_text_is_blank(ret->test) || assay_text_is_blank(ret->entry_point))
		return host->fail_at(err, node, "the row has no tests: nothing could be judged");
	return ASSAY_OK;
}

static int humaneval_prompt(void *self_, const struct assay_problem *problem, const struct assay_prompt_sink *sink,
                            struct assay_error *err)
{
	struct row row;
	int status = read_row((const struct humaneval *)self_, problem->row, &row, err);
	return status ? status : sink->prompt(sink->arg, row.prompt, err);
}

/* -- cases -- */

static struct assay_str cut_at_stops(const struct humaneval *self, struct assay_str completion)
{
	for (size_t i = 0; i < self->stop_count; i++)
		completion.len = find(completion, self->stops[i]);
	return completion;
}

static int has_fence(struct assay_str text)
{
	return find(text, assay_text("```")) < text.len || find(text, assay_text("~~~")) < text.len;
}

/* The first character of code decides: a body is indented, a whole function is not. */
static int is_body(struct assay_str code)
{
	size_t line = 0;
	for (size_t i = 0; i < code.len; i++) {
		if (code.ptr[i] == '\n')
			line = i + 1;
		else if (code.ptr[i] != ' ' && code.ptr[i] != '\t' && code.ptr[i] != '\r')
			return i > line;
	}
	return 0;
}

/*
 * What the completion contributes, and in *ret_glue what stands between the prompt and it. The prompt always goes
 * first, for it brings imports and helpers; a whole function that follows replaces the one the prompt has begun, which
 * its docstring alone makes complete.
 */
static int take_code(const struct humaneval *self, const struct assay_submission *submission,
                     struct assay_extraction *ret, const char **ret_glue, struct assay_error *err)
{
	struct assay_str completion = submission->completion;
	*ret_glue = "";
	ret->size = sizeof(*ret);
	if (self->mode == MODE_COMPLETION || (self->mode == MODE_AUTO && !has_fence(completion))) {
		ret->type = "raw";
		ret->code = cut_at_stops(self, completion);
		return ASSAY_OK;
	}
	int status = self->host->extract(submission->problem->scope, completion, assay_text("python"), ret, err);
	/* "    pass" ends the function that the prompt has begun, should it lack a docstring. */
	if (status == ASSAY_OK && !is_body(ret->code))
		*ret_glue = "    pass\n\n";
	return status;
}

static int humaneval_cases(void *self_, const struct assay_submission *submission, const struct assay_case_sink *sink,
                           struct assay_error *err)
{
	const struct humaneval *self = (const struct humaneval *)self_;
	const struct assay_host *host = self->host;
	struct assay_scope *scope = submission->problem->scope;
	struct row row;
	struct assay_extraction code;
	const char *glue;
	int status = read_row(self, submission->problem->row, &row, err);
	if (status == ASSAY_OK)
		status = take_code(self, submission, &code, &glue, err);
	if (status == ASSAY_OK)
		status = sink->extracted(sink->arg, code.code, code.type, err);
	if (status)
		return status;
	if (assay_text_is_blank(code.code))
		return sink->reject(sink->arg, ASSAY_OUTCOME_NO_CODE, assay_text("the completion holds no code"), err);

	struct assay_case test = {0};
	test.size = sizeof(test);
	test.name = assay_text("check");
	test.secret = host->nonce(scope, 16);
	test.mark = 1;
	/* Byte runs, not "%s": a completion may hold NULs, which Python refuses by itself. */
	const struct assay_str tail = host->format(scope, "\ncheck(%.*s)\n__import__('os').write(3, b'%s')\n",
	                                           (int)row.entry_point.len, row.entry_point.ptr, test.secret.ptr);
	const struct assay_str parts[] = {row.prompt, assay_text(glue), code.code, assay_text("\n"), row.test, tail};
	size_t len = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		len += parts[i].len;
	char *program = (char *)host->alloc(scope, len + 1);
	struct assay_str source = {program, len};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].len > 0)
			memcpy(program, parts[i].ptr, parts[i].len);
		program += parts[i].len;
	}
	struct assay_str language = submission->language.len > 0 ? submission->language : assay_text("python");
	status = sink->source(sink->arg, language, source, err);
	return status ? status : sink->test(sink->arg, &test, err);
}

/* -- check -- */

static int humaneval_check(void *self, const struct assay_submission *submission, const struct assay_observation *seen,
                           const struct assay_check_sink *sink, struct assay_error *err)
{
	(void)self;
	(void)submission;
	int is_marked = seen->secret.len == seen->mark_data.len && seen->secret.len > 0 &&
	                memcmp(seen->secret.ptr, seen->mark_data.ptr, seen->secret.len) == 0;
	if (seen->return_code == 0 && is_marked)
		return sink->outcome(sink->arg, ASSAY_OUTCOME_ACCEPTED, assay_text(""), err);
	if (seen->return_code == 0)
		return sink->outcome(sink->arg, ASSAY_OUTCOME_WRONG_ANSWER,
		                     assay_text("the program ended before its tests did"), err);
	struct assay_str reason = assay_text_last_line(seen->stderr_data);
	return sink->outcome(sink->arg,
	                     assay_text_starts_with(reason, "AssertionError") ? ASSAY_OUTCOME_WRONG_ANSWER
	                                                                      : ASSAY_OUTCOME_RUNTIME_ERROR,
	                     reason, err);
}

static const struct assay_dataset_ops ops = {sizeof(ops),      humaneval_create, humaneval_destroy,
                                             humaneval_prompt, humaneval_cases,  humaneval_check};

ASSAY_PLUGIN(humaneval, ASSAY_KIND_DATASET, "1.0.0", &ops);
