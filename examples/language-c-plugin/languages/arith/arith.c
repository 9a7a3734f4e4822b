/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A language whose source is one arithmetic expression, such as 6 * (3 + 4): the plan wraps it in an awk program.
 * That is what a module is for; a command line alone would need no C (see language-yaml-plugin).
 */
#include <assay/language.h>

static const struct assay_host *host; /* the same for every instance */

static int create(const struct assay_host *given, const struct assay_node *descriptor, void **ret_self,
                  struct assay_error *err)
{
	(void)descriptor;
	(void)err;
	host = given;
	*ret_self = NULL; /* no state of its own */
	return ASSAY_OK;
}

static void destroy(void *self)
{
	(void)self;
}

static int plan(void *self, const struct assay_source *source, const struct assay_plan_sink *sink,
                struct assay_error *err)
{
	static const char *const argv[] = {"awk", "-f", "main.awk", NULL};
	static const struct assay_str path = {"main.awk", 8};
	struct assay_str format, code = source->code;
	(void)self;
	while (code.len > 0 && (code.ptr[code.len - 1] == '\n' || code.ptr[code.len - 1] == '\r'))
		code.len--; /* awk ends a statement there */
	int status = host->node_str(host->node_get(source->options, "format"), &format, err);
	if (status != ASSAY_OK)
		return status;
	struct assay_str program = host->format(source->scope, "BEGIN { printf \"%s\\n\", (%.*s) }\n", format.ptr,
	                                        (int)code.len, code.ptr ? code.ptr : "");
	status = sink->file(sink->arg, path, program, 0644, err);
	return status != ASSAY_OK ? status : sink->step(sink->arg, ASSAY_PHASE_RUN, argv, NULL, err);
}

static const struct assay_language_ops ops = {sizeof(ops), create, destroy, plan};

ASSAY_PLUGIN(arith, ASSAY_KIND_LANGUAGE, "1.0.0", &ops);
