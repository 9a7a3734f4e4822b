/* SPDX-License-Identifier: Apache-2.0 */
/* A language whose plan() has the fault that its option `fault` names: what the contract's test must notice. */
#include <assay/language.h>
#include <fcntl.h>
#include <string.h>

struct faulty {
	const struct assay_host *host;
};
static struct faulty only;

static int create(const struct assay_host *host, const struct assay_node *descriptor, void **ret_self,
                  struct assay_error *err)
{
	(void)descriptor;
	(void)err;
	only.host = host;
	*ret_self = &only;
	return ASSAY_OK;
}

static void destroy(void *self)
{
	(void)self;
}

static int plan(void *self_, const struct assay_source *source, const struct assay_plan_sink *sink,
                struct assay_error *err)
{
	static const char *const argv[] = {"true", NULL}, *const empty_argv[] = {NULL},
	                         *const bad_env[] = {"NAME", NULL};
	const struct faulty *self = self_;
	struct assay_str fault = {"", 0};
	const struct assay_str path = {"main.txt", 8}, outside = {"../main.txt", 11};
	self->host->node_str(self->host->node_get(source->options, "fault"), &fault, err);
	int is_outside = !strcmp(fault.ptr, "outside"), is_setuid = !strcmp(fault.ptr, "setuid");
	if (!strcmp(fault.ptr, "leak") && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
		return self->host->fail(err, ASSAY_SYSTEM, 0, "no /dev/null");
	if (!strcmp(fault.ptr, "wordless"))
		return ASSAY_INTERNAL;
	int status = sink->file(sink->arg, is_outside ? outside : path, source->code, is_setuid ? 04755 : 0644, err);
	if (status && strcmp(fault.ptr, "deaf"))
		return status;
	if (!strcmp(fault.ptr, "stepless"))
		return ASSAY_OK;
	status = sink->step(sink->arg, ASSAY_PHASE_RUN, strcmp(fault.ptr, "empty") ? argv : empty_argv,
	                    strcmp(fault.ptr, "env") ? NULL : bad_env, err);
	if (!status && !strcmp(fault.ptr, "twice"))
		status = sink->step(sink->arg, ASSAY_PHASE_RUN, argv, NULL, err);
	return strcmp(fault.ptr, "deaf") ? status : ASSAY_OK;
}

static const struct assay_language_ops ops = {sizeof(ops), create, destroy, plan};

ASSAY_PLUGIN(faulty_language, ASSAY_KIND_LANGUAGE, "1.0.0", &ops);
