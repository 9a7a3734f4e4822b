/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/stages.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "plugin/host.h"

static void add_source(struct work *work, const struct planner_source *input)
{
	struct source *source = arena_alloc(work->request->arena, sizeof(*source));
	source->input = *input;
	*work->sources_end = source;
	work->sources_end = &source->next;
}

static struct source *last_source(const struct work *work)
{
	struct source *source = work->sources;
	while (source && source->next)
		source = source->next;
	return source;
}

static struct test_case *add_case(struct work *work, const struct assay_case *given)
{
	struct arena *arena = work->request->arena;
	struct test_case *test = arena_alloc(arena, sizeof(*test));
	test->source = last_source(work);
	test->given = *given;
	test->given.name = arena_copy(arena, given->name);
	test->given.stdin_data = arena_copy(arena, given->stdin_data);
	test->given.secret = arena_copy(arena, given->secret);
	test->arena = arena_new();
	*work->cases_end = test;
	work->cases_end = &test->next;
	work->case_count++;
	return test;
}

static int take_extracted(void *arg, struct assay_str code, const char *type, struct assay_error *err)
{
	(void)err;
	struct request *request = ((struct work *)arg)->request;
	request->verdict.extracted_code = arena_copy(request->arena, code);
	request->verdict.extracted_type = arena_copy(request->arena, str_of(type)).ptr;
	return 0;
}

static int take_source(void *arg, struct assay_str language, struct assay_str code, struct assay_error *err)
{
	(void)err;
	struct work *work = arg;
	struct arena *arena = work->request->arena;
	add_source(work,
	           &(struct planner_source){.language = arena_copy(arena, language), .code = arena_copy(arena, code)});
	return 0;
}

static int take_test(void *arg, const struct assay_case *given, struct assay_error *err)
{
	struct work *work = arg;
	if (!work->sources)
		return error_set(err, ASSAY_INTERNAL, 0, "a dataset gave a test before any source");
	add_case(work, given);
	return 0;
}

static int take_rejection(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err)
{
	struct work *work = arg;
	if (outcome <= ASSAY_OUTCOME_ACCEPTED || outcome >= ASSAY_OUTCOME_INFRASTRUCTURE)
		return error_set(err, ASSAY_INTERNAL, 0, "a dataset rejected a completion with no reason there is");
	work->request->verdict.outcome = outcome;
	work->request->verdict.detail = arena_copy(work->request->arena, detail);
	work->is_decided = true;
	return 0;
}

struct assay_problem stage_problem(const struct request *request, struct arena *arena)
{
	return (struct assay_problem){
	    .size = sizeof(struct assay_problem), .scope = scope_of(arena), .row = request->row};
}

struct assay_submission stage_submission(const struct request *request, const struct assay_problem *problem)
{
	return (struct assay_submission){.size = sizeof(struct assay_submission),
	                                 .problem = problem,
	                                 .completion = request->completion,
	                                 .language = request->language};
}

static int extract(struct work *work, struct assay_error *err)
{
	const struct request *request = work->request;
	if (!(request->pipeline->stages & STAGE_EXTRACT))
		return error_set(err, ASSAY_INVALID, 0,
		                 "pipeline '%s' has no stage 'extract': it runs code and takes no completions",
		                 request->pipeline->name);
	const struct assay_problem problem = stage_problem(request, request->arena);
	const struct assay_submission submission = stage_submission(request, &problem);
	const struct assay_case_sink sink = {.size = sizeof(sink),
	                                     .arg = work,
	                                     .extracted = take_extracted,
	                                     .source = take_source,
	                                     .test = take_test,
	                                     .reject = take_rejection};
	int status = request->dataset->ops->cases(request->dataset->self, &submission, &sink, err);
	if (status == 0 && !work->is_decided && work->case_count == 0)
		return error_set(err, ASSAY_INVALID, 0, "the problem has no tests");
	return status;
}

/* A run request: its code is the source, its input the one case. */
static void take_run(struct work *work)
{
	const struct request *request = work->request;
	add_source(work, &(struct planner_source){.language = request->language,
	                                          .code = request->run.code,
	                                          .files = request->run.files,
	                                          .file_count = request->run.file_count,
	                                          .limits = request->run.limits});
	add_case(work, &(struct assay_case){.size = sizeof(struct assay_case),
	                                    .name = STR("run"),
	                                    .stdin_data = request->run.stdin_data});
}

int stage_extract(struct work *work, struct assay_error *err)
{
	if (work->request->dataset)
		return extract(work, err);
	take_run(work);
	return 0;
}
