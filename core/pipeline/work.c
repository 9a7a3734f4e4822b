/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/work.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "pipeline/stages.h"

static void fail_request(struct work *work, const struct assay_error *err)
{
	char text[ERROR_TEXT_MAX];
	struct request *request = work->request;
	request->error = *err;
	request->verdict.outcome = ASSAY_OUTCOME_INFRASTRUCTURE;
	request->verdict.detail = arena_copy(request->arena, str_of(error_format(err, text, sizeof(text))));
	work->is_decided = true;
}

/* Numbers the cases and gives their records what is known before a run. */
static void prepare_cases(struct work *work)
{
	struct arena *arena = work->request->arena;
	work->table = arena_array(arena, work->case_count, sizeof(struct test_case *));
	size_t number = 0;
	for (struct test_case *test = work->cases; test; test = test->next) {
		const struct plan *plan = &test->source->plan;
		struct record *record = &test->result.record;
		work->table[number++] = test;
		record->name = test->given.name;
		record->language = plan->language;
		record->isolation = plan->box.isolation;
		record->protections = plan->box.protections;
		if (!test->source->layer)
			continue;
		record->build = &test->source->layer->build;
		judge_build(test);
	}
}

static void prepare(struct work *work, struct slot *slot)
{
	struct assay_error err = {0};
	int status = stage_extract(work, &err);
	for (struct source *source = work->sources; source && status == 0 && !work->is_decided; source = source->next)
		status = stage_build(work, source, slot, &err);
	if (status)
		fail_request(work, &err);
	prepare_cases(work);
	if (!work->is_decided && work->request->pipeline->stages & STAGE_RUN)
		work->job.units = 1 + work->case_count;
}

static void carry_out(struct work *work, struct test_case *test, struct slot *slot)
{
	const struct pipeline *pipeline = work->request->pipeline;
	struct assay_error err = {0};
	bool is_left_out = pipeline->stop_at_first_failure && atomic_load(&work->has_failed_case);
	if (test->result.outcome != ASSAY_OUTCOME_NONE || is_left_out)
		return; /* the build failed, or an earlier case did */
	if (stage_run(work, test, slot, &err))
		judge_failure(test, &err);
	else if (work->request->dataset && pipeline->stages & STAGE_JUDGE)
		stage_judge(work, test);
	enum assay_outcome outcome = test->result.outcome; /* a failure of ours hides no other */
	if (outcome != ASSAY_OUTCOME_ACCEPTED && outcome != ASSAY_OUTCOME_INFRASTRUCTURE)
		atomic_store(&work->has_failed_case, true);
}

static void run_unit(struct job *job, size_t unit, struct slot *slot)
{
	struct work *work = (struct work *)job;
	if (unit == 0)
		prepare(work, slot);
	else
		carry_out(work, work->table[unit - 1], slot);
}

static void work_free(struct work *work)
{
	for (struct test_case *test = work->cases; test; test = test->next) {
		step_record_free(&test->result.record.run);
		arena_free(test->arena);
	}
	for (struct source *source = work->sources; source; source = source->next)
		if (source->layer)
			layers_release(work->workshop->layers, source->layer);
	request_free(work->request);
	free(work);
}

static void finish(struct job *job)
{
	struct work *work = (struct work *)job;
	struct request *request = work->request;
	struct verdict *verdict = &request->verdict;
	verdict->tests = arena_array(request->arena, work->case_count, sizeof(*verdict->tests));
	verdict->test_count = work->case_count;
	for (size_t i = 0; i < work->case_count; i++)
		verdict->tests[i] = work->table[i]->result;
	if (!work->is_decided)
		judge_all(work);
	request->done(request, request->arg);
	work_free(work);
}

struct job *work_new(const struct workshop *workshop, struct request *request)
{
	struct work *work = xmalloc(sizeof(*work));
	work->job = (struct job){.run = run_unit, .finish = finish, .units = 1};
	work->workshop = workshop;
	work->request = request;
	work->sources_end = &work->sources;
	work->cases_end = &work->cases;
	return &work->job;
}
