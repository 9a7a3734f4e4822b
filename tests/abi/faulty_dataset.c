/* SPDX-License-Identifier: Apache-2.0 */
/* A dataset type with the fault that its option `fault` names: what the contract's test must notice. */
#include <assay/dataset.h>
#include <string.h>

struct faulty {
	const struct assay_host *host;
	struct assay_str fault;
};
static struct faulty only;

static int create(const struct assay_host *host, const struct assay_node *options, void **ret_self,
                  struct assay_error *err)
{
	only.host = host;
	*ret_self = &only;
	return host->node_str(host->node_get(options, "fault"), &only.fault, err);
}

static void destroy(void *self)
{
	(void)self;
}

static int prompt(void *self_, const struct assay_problem *problem, const struct assay_prompt_sink *sink,
                  struct assay_error *err)
{
	const struct faulty *self = self_;
	struct assay_str text = {"", 0};
	if (!strcmp(self->fault.ptr, "promptless"))
		return ASSAY_OK;
	int status = strcmp(self->fault.ptr, "lax")
	                 ? self->host->node_str(self->host->node_get(problem->row, "prompt"), &text, err)
	                 : ASSAY_OK;
	return status ? status : sink->prompt(sink->arg, text, err);
}

static int cases(void *self_, const struct assay_submission *submission, const struct assay_case_sink *sink,
                 struct assay_error *err)
{
	const struct faulty *self = self_;
	struct assay_case test = {sizeof(test), {"1", 1}, {"", 0}, {"secret", 6}, 0, 0, 0, 0};
	if (!strcmp(self->fault.ptr, "caseless"))
		return ASSAY_OK;
	if (!strcmp(self->fault.ptr, "generous"))
		return sink->reject(sink->arg, ASSAY_OUTCOME_ACCEPTED, submission->completion, err);
	int status = sink->source(sink->arg, submission->language, submission->completion, err);
	return status ? status : sink->test(sink->arg, &test, err);
}

static int check(void *self_, const struct assay_submission *submission, const struct assay_observation *seen,
                 const struct assay_check_sink *sink, struct assay_error *err)
{
	(void)submission;
	const struct faulty *self = self_;
	struct assay_str detail = {"", 0};
	if (seen->secret.len != 6 || memcmp(seen->secret.ptr, "secret", 6))
		return self->host->fail(err, ASSAY_INTERNAL, 0, "the secret is not that of the case");
	if (!strcmp(self->fault.ptr, "silent"))
		return ASSAY_OK;
	if (!strcmp(self->fault.ptr, "unheard"))
		return sink->outcome(sink->arg, (enum assay_outcome)99, detail, err);
	if (!strcmp(self->fault.ptr, "twice"))
		sink->outcome(sink->arg, ASSAY_OUTCOME_WRONG_ANSWER, detail, err);
	return sink->outcome(sink->arg, ASSAY_OUTCOME_WRONG_ANSWER, detail, err);
}

static const struct assay_dataset_ops ops = {sizeof(ops), create, destroy, prompt, cases, check};

ASSAY_PLUGIN(faulty_dataset, ASSAY_KIND_DATASET, "1.0.0", &ops);
