/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HumanEval's format (M. Chen and others, 2021; github.com/openai/human-eval, execution.py): prompt + completion + test
 * + check(entry_point), accepted when that runs to its end.
 *
 * "To its end" is where the published grader can be fooled: it takes any silent exit for success. Here the program's
 * last statement writes a nonce, new for each submission, to a channel of its own, so that a program which exits before
 * its tests are over is not accepted, whatever way it exits. What this does not stop: code that looks for the nonce in
 * its own source or frames, or changes what the tests call, for tests and completion share a process, as in the
 * published grader.
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
	if (find(ret->test, assay_text("check")) == ret->test.len)
		return host->fail_at(err, node, "the row's tests define no check()");
	return ASSAY_OK;
}

static int humaneval_prompt(void *self_, const struct assay_problem *problem, const struct assay_prompt_sink *sink,
                            struct assay_error *err)
{
	struct row row = {0};
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

/* The indentation of the first line that is not blank, in bytes; *ret_line is the line from there on. */
static size_t first_line(struct assay_str code, struct assay_str *ret_line)
{
	size_t line = 0;
	for (size_t i = 0; i < code.len; i++) {
		if (code.ptr[i] == '\n') {
			line = i + 1;
		} else if (code.ptr[i] != ' ' && code.ptr[i] != '\t' && code.ptr[i] != '\r') {
			ret_line->ptr = code.ptr + i;
			ret_line->len = code.len - i;
			return i - line;
		}
	}
	*ret_line = assay_text("");
	return 0;
}

static int is_fence(struct assay_str line)
{
	return assay_text_starts_with(line, "```") || assay_text_starts_with(line, "~~~");
}

/* A body that goes on where the prompt ends, whatever fences follow. One blank before prose is no indentation. */
static int continues_prompt(struct assay_str completion)
{
	struct assay_str line;
	size_t indent = first_line(completion, &line);
	return !is_fence(line) && (indent >= 2 || (indent == 1 && line.ptr[-1] == '\t'));
}

/*
 * What stands between the prompt and code from a fence. A body goes on in the function that the prompt has begun. A
 * whole function replaces that one, which must be complete first: a docstring makes it so, and after a bare "def" line
 * or a comment a "pass" does.
 */
static struct assay_str join(const struct assay_host *host, struct assay_scope *scope, struct assay_str prompt,
                             struct assay_str code)
{
	struct assay_str line, last = prompt;
	if (first_line(code, &line) > 0)
		return assay_text(prompt.len > 0 && prompt.ptr[prompt.len - 1] == '\n' ? "" : "\n");
	while (last.len > 0 && strchr(" \t\r\n", last.ptr[last.len - 1]))
		last.len--;
	size_t begin = last.len;
	while (begin > 0 && last.ptr[begin - 1] != '\n')
		begin--;
	last.ptr += begin;
	last.len -= begin;
	if (last.len >= 3 &&
	    (memcmp(last.ptr + last.len - 3, "\"\"\"", 3) == 0 || memcmp(last.ptr + last.len - 3, "'''", 3) == 0))
		return assay_text("\n\n");
	size_t indent = first_line(last, &line);
	int opens = assay_text_starts_with(line, "def ") || assay_text_starts_with(line, "async def ") ||
	            (line.len > 0 && line.ptr[line.len - 1] == ':');
	return host->format(scope, "\n%.*s%spass\n\n", (int)indent, last.ptr ? last.ptr : "", opens ? "    " : "");
}

/*
 * Python wants these imports before everything else, so before the prompt: they go into *ret_head and become comments
 * where they stood.
 */
static void lift_future_imports(const struct assay_host *host, struct assay_scope *scope, struct assay_str *code,
                                struct assay_str *ret_head)
{
	const struct assay_str import = assay_text("from __future__ import ");
	*ret_head = assay_text("");
	if (find(*code, import) == code->len)
		return;
	char *copy = (char *)host->alloc(scope, code->len + 1);
	char *head = (char *)host->alloc(scope, code->len + 1);
	size_t head_len = 0, line = 0;
	memcpy(copy, code->ptr, code->len);
	while (line < code->len) {
		struct assay_str rest = {code->ptr + line, code->len - line};
		size_t end = find(rest, assay_text("\n"));
		end += end < rest.len;
		if (assay_text_starts_with(rest, import.ptr)) {
			memcpy(head + head_len, rest.ptr, end);
			head_len += end;
			copy[line] = '#';
		}
		line += end;
	}
	code->ptr = copy;
	ret_head->ptr = head;
	ret_head->len = head_len;
}

/* What a completion contributes, and what stands before and behind the prompt for its sake. */
struct contribution {
	struct assay_extraction code;
	struct assay_str head, glue;
};

/*
 * The prompt always goes before the code, for it brings imports and helpers. As `mode: auto` has it, a completion is an
 * answer of a chat model when it begins with reasoning or has a fence in it, unless it first goes on where the prompt
 * ends: models that were given the prompt in a fence close that fence and explain.
 */
static int take_code(const struct humaneval *self, const struct assay_submission *submission, struct assay_str prompt,
                     struct contribution *ret, struct assay_error *err)
{
	const struct assay_host *host = self->host;
	struct assay_scope *scope = submission->problem->scope;
	struct assay_str completion = submission->completion;
	struct assay_str line;
	first_line(completion, &line);
	int goes_on = continues_prompt(completion);
	int is_chat = self->mode == MODE_CHAT || (self->mode == MODE_AUTO && assay_text_starts_with(line, "<think>"));
	ret->code.size = sizeof(ret->code);
	ret->code.type = "raw";
	ret->head = ret->glue = assay_text("");
	if (is_chat || (self->mode == MODE_AUTO && !goes_on && has_fence(completion))) {
		int status = host->extract(scope, completion, assay_text("python"), &ret->code, err);
		if (status)
			return status;
		/* Lines that look like code are for those who said that an answer is prose. */
		is_chat = is_chat || strcmp(ret->code.type, "heuristic") != 0;
	}
	if (is_chat) {
		ret->glue = join(host, scope, prompt, ret->code.code);
		lift_future_imports(host, scope, &ret->code.code, &ret->head);
		return ASSAY_OK;
	}
	if (self->mode == MODE_AUTO && goes_on) {
		completion.len = find(completion, assay_text("\n```"));
		completion.len = find(completion, assay_text("\n~~~"));
	}
	ret->code.type = "raw";
	ret->code.code = cut_at_stops(self, completion);
	return ASSAY_OK;
}

/* The parts in one piece. Byte runs, not "%s": a completion may hold NULs, which Python refuses by itself. */
static struct assay_str concatenate(const struct assay_host *host, struct assay_scope *scope,
                                    const struct assay_str *parts, size_t count)
{
	size_t len = 0;
	for (size_t i = 0; i < count; i++)
		len += parts[i].len;
	char *text = (char *)host->alloc(scope, len + 1);
	struct assay_str whole = {text, len};
	for (size_t i = 0; i < count; i++) {
		if (parts[i].len > 0)
			memcpy(text, parts[i].ptr, parts[i].len);
		text += parts[i].len;
	}
	return whole;
}

static int humaneval_cases(void *self_, const struct assay_submission *submission, const struct assay_case_sink *sink,
                           struct assay_error *err)
{
	const struct humaneval *self = (const struct humaneval *)self_;
	const struct assay_host *host = self->host;
	struct assay_scope *scope = submission->problem->scope;
	struct row row = {0};
	struct contribution taken;
	int status = read_row(self, submission->problem->row, &row, err);
	if (status == ASSAY_OK)
		status = take_code(self, submission, row.prompt, &taken, err);
	if (status == ASSAY_OK)
		status = sink->extracted(sink->arg, taken.code.code, taken.code.type, err);
	if (status)
		return status;
	if (assay_text_is_blank(taken.code.code))
		return sink->reject(sink->arg, ASSAY_OUTCOME_NO_CODE, assay_text("the completion holds no code"), err);

	struct assay_case test = {0};
	test.size = sizeof(test);
	test.name = assay_text("check");
	test.secret = host->nonce(scope, 16);
	test.mark = 1;
	const struct assay_str parts[] = {
	    taken.head,
	    row.prompt,
	    taken.glue,
	    taken.code.code,
	    assay_text("\n"),
	    row.test,
	    host->format(scope, "\ncheck(%.*s)\n__import__('os').write(3, b'%s')\n", (int)row.entry_point.len,
	                 row.entry_point.ptr, test.secret.ptr),
	};
	struct assay_str language = submission->language.len > 0 ? submission->language : assay_text("python");
	status =
	    sink->source(sink->arg, language, concatenate(host, scope, parts, sizeof(parts) / sizeof(*parts)), err);
	return status ? status : sink->test(sink->arg, &test, err);
}

/* -- check -- */

/*
 * The line that names an AssertionError in the last traceback, or an empty view. Not simply the last line: the message
 * of an assertion may have several.
 */
static struct assay_str find_assertion(struct assay_str text)
{
	struct assay_str found = assay_text("");
	while (text.len > 0) {
		struct assay_str line = {text.ptr, find(text, assay_text("\n"))};
		size_t taken = line.len < text.len ? line.len + 1 : line.len;
		text.ptr += taken;
		text.len -= taken;
		if (assay_text_starts_with(line, "Traceback (most recent call last):"))
			found = assay_text("");
		else if (found.len == 0 && (assay_text_starts_with(line, "AssertionError:") ||
		                            assay_text_is(assay_text_last_line(line), "AssertionError")))
			found = line;
	}
	return found;
}

static int humaneval_check(void *self_, const struct assay_submission *submission, const struct assay_observation *seen,
                           const struct assay_check_sink *sink, struct assay_error *err)
{
	const struct assay_host *host = ((const struct humaneval *)self_)->host;
	int is_marked = seen->secret.len == seen->mark_data.len && seen->secret.len > 0 &&
	                memcmp(seen->secret.ptr, seen->mark_data.ptr, seen->secret.len) == 0;
	if (seen->return_code == 0 && is_marked)
		return sink->outcome(sink->arg, ASSAY_OUTCOME_ACCEPTED, assay_text(""), err);
	if (seen->return_code == 0)
		return sink->outcome(sink->arg, ASSAY_OUTCOME_WRONG_ANSWER,
		                     assay_text("the program ended before its tests did"), err);
	/* 1 is what Python ends with after a traceback. */
	struct assay_str assertion = find_assertion(seen->stderr_data);
	if (seen->return_code == 1 && assertion.len > 0)
		return sink->outcome(sink->arg, ASSAY_OUTCOME_WRONG_ANSWER, assay_text_last_line(assertion), err);
	struct assay_str reason = assay_text_last_line(seen->stderr_data);
	if (reason.len == 0)
		reason = host->format(submission->problem->scope, "exit code %d", seen->return_code);
	return sink->outcome(sink->arg, ASSAY_OUTCOME_RUNTIME_ERROR, reason, err);
}

static const struct assay_dataset_ops ops = {sizeof(ops),      humaneval_create, humaneval_destroy,
                                             humaneval_prompt, humaneval_cases,  humaneval_check};

ASSAY_PLUGIN(humaneval, ASSAY_KIND_DATASET, "1.0.0", &ops);
