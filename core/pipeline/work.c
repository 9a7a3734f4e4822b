/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/work.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/files.h"
#include "base/str.h"
#include "exec/box.h"
#include "plugin/host.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

/* A program: planned and built once, run by each of its cases. */
struct source {
	struct source *next;
	struct planner_source input;
	struct plan plan;
	struct layer *layer; /* NULL when the plan has no build step */
};

struct test_case {
	struct test_case *next;
	const struct source *source;
	struct assay_case given; /* strings in the request's arena */
	struct arena *arena;     /* of this case's results: cases run in parallel */
	struct test_result result;
};

struct work {
	struct job job; /* first: a job's address is its work's */
	const struct workshop *workshop;
	struct request *request;
	struct source *sources, **sources_end;
	struct test_case *cases, **cases_end;
	struct test_case **table; /* the cases by number */
	size_t case_count;
	bool is_decided; /* the verdict stands before anything has run */
	atomic_bool has_failed_case;
};

/* -- extract: what the dataset's cases() pushes ------------------------------------------------------------------- */

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
	if (outcome == ASSAY_OUTCOME_ACCEPTED)
		return error_set(err, ASSAY_INTERNAL, 0, "a dataset accepted a completion without running it");
	work->request->verdict.outcome = outcome;
	work->request->verdict.detail = arena_copy(work->request->arena, detail);
	work->is_decided = true;
	return 0;
}

static struct assay_problem problem_of(const struct request *request, struct arena *arena)
{
	return (struct assay_problem){
	    .size = sizeof(struct assay_problem), .scope = scope_of(arena), .row = request->row};
}

static struct assay_submission submission_of(const struct request *request, const struct assay_problem *problem)
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
	const struct assay_problem problem = problem_of(request, request->arena);
	const struct assay_submission submission = submission_of(request, &problem);
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

/* -- build ----------------------------------------------------------------------------------------------------------
 */

struct build {
	struct work *work;
	struct slot *slot;
	const struct plan *plan;
};

static int give_workspace(const struct workspace *workspace, const struct plan_box *box, struct assay_error *err)
{
	if (!box->has_identity)
		return 0;
	return tree_chown(workspace->scratch->fd, workspace->name, box->uid, box->gid, err);
}

static int build_layer(void *arg, const struct workspace *workspace, struct step_record *record,
                       struct assay_error *err)
{
	const struct build *build = arg;
	const struct plan *plan = build->plan;
	int status = workspace_fill(workspace, plan->files, plan->file_count, err);
	if (status == 0)
		status = give_workspace(workspace, &plan->box, err);
	if (status)
		return status;
	const struct box box = {.step = &plan->build,
	                        .settings = &plan->box,
	                        .workspace = workspace,
	                        .cancel_fd = build->work->workshop->cancel_fd};
	box_run(build->slot->link, &box, record);
	return tree_remove(workspace->fd, ".tmp", err); /* every case has its own */
}

static void digest_list(struct digest *digest, const char *const *list)
{
	for (; *list; list++)
		digest_field(digest, str_of(*list));
	digest_field(digest, STR(""));
}

/* Everything that decides what a build leaves. */
static void layer_key(const struct plan *plan, char key[DIGEST_HEX_SIZE])
{
	struct digest digest;
	digest_init(&digest);
	digest_field(&digest, str_of(plan->language));
	digest_field(&digest, str_of(plan->box.isolation));
	digest_field(&digest, (struct assay_str){(const char *)&plan->build.limits, sizeof(plan->build.limits)});
	digest_list(&digest, plan->build.argv);
	digest_list(&digest, plan->build.env);
	for (size_t i = 0; i < plan->file_count; i++) {
		digest_field(&digest, plan->files[i].path);
		digest_field(&digest, plan->files[i].content);
		digest_field(&digest, (struct assay_str){(const char *)&plan->files[i].mode, sizeof(mode_t)});
	}
	digest_hex(&digest, key);
}

static int build_source(struct work *work, struct source *source, struct slot *slot, struct assay_error *err)
{
	struct request *request = work->request;
	int status = planner_plan(work->workshop->planner, request->arena, request->pipeline, &source->input,
	                          &source->plan, err);
	if (status || !source->plan.build.argv || !(request->pipeline->stages & STAGE_BUILD))
		return status;
	char key[DIGEST_HEX_SIZE];
	layer_key(&source->plan, key);
	struct build build = {.work = work, .slot = slot, .plan = &source->plan};
	return layers_get(work->workshop->layers, key, build_layer, &build, &source->layer, err);
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

/* -- run and check --------------------------------------------------------------------------------------------------
 */

static void set_result(struct test_case *test, enum assay_outcome outcome, struct assay_str detail)
{
	test->result.outcome = outcome;
	test->result.detail = arena_copy(test->arena, detail);
}

static void set_failure(struct test_case *test, const struct assay_error *err)
{
	char text[ERROR_TEXT_MAX];
	set_result(test, ASSAY_OUTCOME_INFRASTRUCTURE, str_of(error_format(err, text, sizeof(text))));
}

static int fill_workspace(const struct source *source, const struct workspace *workspace, struct assay_error *err)
{
	const struct plan *plan = &source->plan;
	int status = source->layer ? tree_copy(source->layer->workspace.fd, workspace->fd, err)
	                           : workspace_fill(workspace, plan->files, plan->file_count, err);
	return status ? status : give_workspace(workspace, &plan->box, err);
}

static void fetch_files(struct request *request, const struct workspace *workspace)
{
	size_t count = 0;
	while (request->run.fetch && request->run.fetch[count])
		count++;
	request->fetched = arena_array(request->arena, count, sizeof(*request->fetched));
	request->fetched_count = count;
	for (size_t i = 0; i < count; i++) {
		struct fetched_file *file = &request->fetched[i];
		auto_buffer struct buffer content = {0};
		file->path = str_of(request->run.fetch[i]);
		file_read_beneath(workspace->fd, file->path, FETCH_BYTES_MAX, &content, &file->size_bytes,
		                  &file->error);
		file->content = arena_copy(request->arena, buffer_str(&content));
	}
}

/* One box in a workspace of its own. */
static int run_once(struct work *work, struct test_case *test, struct slot *slot, struct assay_error *err)
{
	struct request *request = work->request;
	const struct plan *plan = &test->source->plan;
	struct step_record *record = &test->result.record.run;
	struct workspace workspace;
	int status = workspace_make(work->workshop->scratch, &workspace, err);
	if (status)
		return status;
	status = fill_workspace(test->source, &workspace, err);
	if (status == 0) {
		struct plan_step step = plan->run;
		step.limits = (struct limits){.cpu_ns = test->given.cpu_ns,
		                              .wall_ns = test->given.wall_ns,
		                              .memory_bytes = test->given.memory_bytes};
		limits_fill(&step.limits, &plan->run.limits);
		const struct box box = {.step = &step,
		                        .settings = &plan->box,
		                        .workspace = &workspace,
		                        .args = request->run.args,
		                        .stdin_data = test->given.stdin_data,
		                        .has_mark = test->given.mark != 0,
		                        .cancel_fd = work->workshop->cancel_fd};
		box_run(slot->link, &box, record);
		if (!request->dataset && !record->is_keeper_lost)
			fetch_files(request, &workspace);
	}
	workspace_remove(&workspace);
	return status;
}

static int run_case(struct work *work, struct test_case *test, struct slot *slot, struct assay_error *err)
{
	struct record *record = &test->result.record;
	int status = run_once(work, test, slot, err);
	if (status == 0 && record->run.is_keeper_lost) {
		step_record_free(&record->run);
		status = run_once(work, test, slot, err);
	}
	record->has_run = status == 0;
	return status;
}

static int take_outcome(void *arg, enum assay_outcome outcome, struct assay_str detail, struct assay_error *err)
{
	(void)err;
	set_result(arg, outcome, detail);
	return 0;
}

/* A program that ended by itself within its limits: the dataset says whether it was right. */
static int check_case(struct work *work, struct test_case *test, struct assay_error *err)
{
	const struct request *request = work->request;
	const struct step_record *run = &test->result.record.run;
	const struct assay_problem problem = problem_of(request, test->arena);
	const struct assay_submission submission = submission_of(request, &problem);
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

static void judge_case(struct work *work, struct test_case *test)
{
	const struct step_record *run = &test->result.record.run;
	struct assay_error err = {0};
	enum assay_outcome outcome = outcome_of_step(run);
	if (outcome == ASSAY_OUTCOME_INFRASTRUCTURE) {
		set_failure(test, &run->error);
	} else if (outcome != ASSAY_OUTCOME_NONE) {
		set_result(test, outcome,
		           run->limit_hit ? arena_printf(test->arena, "hit its %s limit", run->limit_hit)
		                          : arena_printf(test->arena, "ended by signal %d", run->signal));
	} else if (run->stdout_stream.total_bytes > run->stdout_stream.kept.len) {
		set_result(test, ASSAY_OUTCOME_OUTPUT_LIMIT, STR("wrote more than the output limit keeps"));
	} else if (check_case(work, test, &err)) {
		set_failure(test, &err);
	}
}

/* -- units ----------------------------------------------------------------------------------------------------------
 */

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
		enum assay_outcome outcome = build_outcome(record->build);
		if (outcome != ASSAY_OUTCOME_NONE)
			set_result(test, outcome, build_detail(test->arena, record->build));
	}
}

static void prepare(struct work *work, struct slot *slot)
{
	struct assay_error err = {0};
	int status = 0;
	if (work->request->dataset)
		status = extract(work, &err);
	else
		take_run(work);
	for (struct source *source = work->sources; source && status == 0 && !work->is_decided; source = source->next)
		status = build_source(work, source, slot, &err);
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
	if (run_case(work, test, slot, &err))
		set_failure(test, &err);
	else if (work->request->dataset && pipeline->stages & STAGE_JUDGE)
		judge_case(work, test);
	if (test->result.outcome != ASSAY_OUTCOME_ACCEPTED)
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

/*
 * The verdict over all cases: the first that failed for certain decides, then one that Assay could not judge; accepted
 * only when every case is. Cases left out or not judged leave it open.
 */
static void decide(struct work *work)
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
		decide(work);
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
