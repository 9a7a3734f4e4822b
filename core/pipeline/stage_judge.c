/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/stages.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

static void set_result(struct test_case *test, enum assay_outcome outcome, struct assay_str detail)
{
	test->result.outcome = outcome;
	test->result.detail = arena_copy(test->arena, detail);
}

void judge_failure(struct test_case *test, const struct assay_error *err)
{
	char text[ERROR_TEXT_MAX];
	set_result(test, ASSAY_OUTCOME_INFRASTRUCTURE, str_of(error_format(err, text, sizeof(text))));
}

/* The outcome of a build step that does not allow a run; NONE when it does. */
static enum assay_outcome build_outcome(const struct step_record *build)
{
	if (build->status == STEP_ERROR)
		return ASSAY_OUTCOME_INFRASTRUCTURE;
	return build->status == STEP_FINISHED && build->return_code == 0 ? ASSAY_OUTCOME_NONE
	                                                                 : ASSAY_OUTCOME_COMPILE_ERROR;
}

static struct assay_str build_detail(struct arena *arena, const struct step_record *build)
{
	if (build->status == STEP_ERROR)
		return arena_copy(arena, str_of(build->error.message));
	if (build->limit_hit)
		return arena_printf(arena, "the build hit its %s limit", build->limit_hit);
	struct assay_str rest = str_trim(buffer_str(&build->stderr_stream.kept)), line = {0};
	str_cut(&rest, '\n', &line);
	return arena_copy(arena, line);
}

void judge_build(struct test_case *test)
{
	const struct step_record *build = test->result.record.build;
	enum assay_outcome outcome = build ? build_outcome(build) : ASSAY_OUTCOME_NONE;
	if (outcome != ASSAY_OUTCOME_NONE)
		set_result(test, outcome, build_detail(test->arena, build));
}

static int take_outcome(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err)
{
	struct test_case *test = arg;
	if (test->result.outcome != ASSAY_OUTCOME_NONE || outcome <= ASSAY_OUTCOME_NONE ||
	    outcome >= ASSAY_OUTCOME_INFRASTRUCTURE)
		return error_set(err, ASSAY_INTERNAL, 0, "a dataset gave a second outcome, or none there is");
	set_result(test, outcome, detail);
	return 0;
}

/* A program that ended by itself within its limits: the dataset says whether it was right. */
static int check_case(struct work *work, struct test_case *test, struct assay_error *err)
{
	const struct request *request = work->request;
	const struct step_record *run = &test->result.record.run;
	const struct assay_problem problem = stage_problem(request, test->arena);
	const struct assay_submission submission = stage_submission(request, &problem);
	const struct assay_observation seen = {.size = sizeof(seen),
	                                       .name = test->given.name,
	                                       .secret = test->given.secret,
	                                       .return_code = run->return_code,
	                                       .stdout_data = buffer_str(&run->stdout_stream.kept),
	                                       .stderr_data = buffer_str(&run->stderr_stream.kept),
	                                       .mark_data = buffer_str(&run->mark_stream.kept)};
	const struct assay_check_sink sink = {.size = sizeof(sink), .arg = test, .outcome = take_outcome};
	int status = request->dataset->ops->check(request->dataset->self, &submission, &seen, &sink, err);
	if (status == 0 && test->result.outcome == ASSAY_OUTCOME_NONE)
		return error_set(err, ASSAY_INTERNAL, 0, "dataset type '%s' gave no outcome",
		                 request->dataset->plugin->name);
	return status;
}

void stage_judge(struct work *work, struct test_case *test)
{
	const struct step_record *run = &test->result.record.run;
	struct assay_error err = {0};
	enum assay_outcome outcome = outcome_of_step(run);
	if (outcome == ASSAY_OUTCOME_INFRASTRUCTURE) {
		judge_failure(test, &run->error);
	} else if (outcome != ASSAY_OUTCOME_NONE) {
		set_result(test, outcome,
		           run->limit_hit ? arena_printf(test->arena, "hit its %s limit", run->limit_hit)
		                          : arena_printf(test->arena, "ended by signal %d", run->signal));
	} else if (run->stdout_stream.total_bytes > run->stdout_stream.kept.len) {
		set_result(test, ASSAY_OUTCOME_OUTPUT_LIMIT, STR("wrote more than the output limit keeps"));
	} else if (check_case(work, test, &err)) {
		judge_failure(test, &err);
	}
}

/*
 * The verdict over all cases: the first that failed for certain decides, then one that Assay could not judge; accepted
 * only when every case is. Cases left out or not judged leave it open.
 */
void judge_all(struct work *work)
{
	struct verdict *verdict = &work->request->verdict;
	const struct test_case *undecided = NULL, *unjudged = NULL;
	for (const struct test_case *test = work->cases; test; test = test->next) {
		enum assay_outcome outcome = test->result.outcome;
		if (outcome == ASSAY_OUTCOME_INFRASTRUCTURE && !undecided)
			undecided = test;
		else if (outcome == ASSAY_OUTCOME_NONE)
			unjudged = test;
		else if (outcome != ASSAY_OUTCOME_ACCEPTED && outcome != ASSAY_OUTCOME_INFRASTRUCTURE) {
			verdict->outcome = outcome;
			verdict->detail = test->result.detail;
			return;
		}
	}
	if (undecided) {
		verdict->outcome = ASSAY_OUTCOME_INFRASTRUCTURE;
		verdict->detail = undecided->result.detail;
	} else if (!unjudged) {
		verdict->outcome = ASSAY_OUTCOME_ACCEPTED;
	}
}
