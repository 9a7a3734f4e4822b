/* SPDX-License-Identifier: Apache-2.0 */
/* A language module that is sound but for what the build's definitions say (see CMakeLists.txt). */
#include <assay/language.h>

#define TEXT_(name)      #name
#define TEXT(name)       TEXT_(name)
#define JOIN_(name, end) name##end
#define JOIN(name, end)  JOIN_(name, end)
#ifndef MAGIC
#define MAGIC ASSAY_PLUGIN_MAGIC
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(struct assay_plugin)
#endif
#ifndef ABI_MAJOR
#define ABI_MAJOR ASSAY_ABI_MAJOR
#endif
#ifndef ABI_MINOR
#define ABI_MINOR ASSAY_ABI_MINOR
#endif
#ifndef KIND
#define KIND ASSAY_KIND_LANGUAGE
#endif
#ifndef NAME
#define NAME TEXT(MODULE)
#endif
#ifndef VERSION
#define VERSION "1.0.0"
#endif
#ifndef OPS_SIZE
#define OPS_SIZE sizeof(struct assay_language_ops)
#endif
#ifndef PLAN
#define PLAN plan
#endif
#ifndef OPS
#define OPS &ops
#endif

#ifdef SECOND_SYMBOL
ASSAY_EXPORT int a_second_symbol(void);
int a_second_symbol(void)
{
	return 2;
}
#endif

#ifdef USES_LIBRARY
extern int no_symbol_answer(void);
#endif
#ifdef UNDEFINED_SYMBOL
extern int nobody_defines_this(void);
#endif

static int create(const struct assay_host *host, const struct assay_node *descriptor, void **ret_self,
                  struct assay_error *err)
{
	(void)host;
	(void)descriptor;
	(void)err;
	*ret_self = NULL;
#ifdef USES_LIBRARY
	return no_symbol_answer();
#elif defined(UNDEFINED_SYMBOL)
	return nobody_defines_this();
#else
	return ASSAY_OK;
#endif
}

static void destroy(void *self)
{
	(void)self;
}

static int plan(void *self, const struct assay_source *source, const struct assay_plan_sink *sink,
                struct assay_error *err)
{
	static const char *const argv[] = {"true", NULL};
	(void)self;
	(void)source;
	return sink->step(sink->arg, ASSAY_PHASE_RUN, argv, NULL, err);
}

static const struct assay_language_ops ops = {OPS_SIZE, create, destroy, PLAN};

ASSAY_EXPORT const struct assay_plugin *JOIN(MODULE, _LTX_assay_plugin)(void);
const struct assay_plugin *JOIN(MODULE, _LTX_assay_plugin)(void)
{
	/* So that nothing is unused, whichever parts are replaced. */
	static const void *const used[] = {&ops, plan};
	static struct assay_plugin plugin = {MAGIC, TABLE_SIZE, ABI_MAJOR, ABI_MINOR, KIND, NAME, VERSION, OPS};
	return used[0] ? &plugin : NULL;
}
