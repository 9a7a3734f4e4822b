/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language whose every fact is data: `source`, `build`, `run` and `env` of the descriptor, with ${...} filled in.
 * A misspelt name is an error with its place in the descriptor, found when the instance is made: who writes a
 * descriptor meets it then, not who runs the first program.
 *
 *   ${source}        file name of the code in the workspace
 *   ${option.NAME}   an option of the descriptor
 *   ${memory.mib}    the run's memory limit in MiB, for heap flags
 */
#include <assay/language.h>
#include <assay/text.h>
#include <stdlib.h>
#include <string.h>

struct command {
	const struct assay_host *host;
	const struct assay_node *descriptor;
	struct assay_str source;
};

/* The names a template may use, and their values for one source. */
struct names {
	struct assay_str (*pairs)[2];
	size_t count;
};

static struct assay_str option_text(const struct assay_host *host, struct assay_scope *scope,
                                    const struct assay_node *value)
{
	struct assay_str text = {"", 0};
	int64_t integer = 0;
	double real = 0;
	int truth = 0;
	switch (host->node_kind(value)) {
	case ASSAY_NODE_INT:
		host->node_int(value, &integer, NULL);
		return host->format(scope, "%lld", (long long)integer);
	case ASSAY_NODE_REAL:
		host->node_real(value, &real, NULL);
		return host->format(scope, "%g", real);
	case ASSAY_NODE_BOOL:
		host->node_bool(value, &truth, NULL);
		return assay_text(truth ? "true" : "false");
	default:
		host->node_str(value, &text, NULL);
		return text;
	}
}

static void add_name(struct names *names, struct assay_str name, struct assay_str value)
{
	names->pairs[names->count][0] = name;
	names->pairs[names->count][1] = value;
	names->count++;
}

static void collect_names(const struct command *self, const struct assay_source *source, struct names *names)
{
	const struct assay_host *host = self->host;
	size_t room = 2 + host->node_count(source->options);
	names->pairs = (struct assay_str(*)[2])host->alloc(source->scope, room * sizeof(*names->pairs));
	names->count = 0;
	add_name(names, assay_text("source"), self->source);
	add_name(names, assay_text("memory.mib"),
	         host->format(source->scope, "%llu", (unsigned long long)(source->memory_bytes >> 20)));
	for (size_t i = 0; i < host->node_count(source->options); i++)
		add_name(names, host->format(source->scope, "option.%s", host->node_key(source->options, i).ptr),
		         option_text(host, source->scope, host->node_at(source->options, i)));
}

static int expand(const struct command *self, const struct assay_source *source, const struct names *names,
                  const struct assay_node *node, struct assay_str *ret, struct assay_error *err)
{
	struct assay_str text;
	int status = self->host->node_str(node, &text, err);
	if (status)
		return status;
	return self->host->substitute(source->scope, text, (const struct assay_str(*)[2])names->pairs, names->count,
	                              ret, err);
}

static const char **list_new(const struct command *self, const struct assay_source *source, size_t count)
{
	return (const char **)self->host->alloc(source->scope, (count + 1) * sizeof(char *));
}

static int expand_argv(const struct command *self, const struct assay_source *source, const struct names *names,
                       const struct assay_node *list, const char ***ret, struct assay_error *err)
{
	size_t count = self->host->node_count(list);
	const char **argv = list_new(self, source, count);
	for (size_t i = 0; i < count; i++) {
		struct assay_str text;
		int status = expand(self, source, names, self->host->node_at(list, i), &text, err);
		if (status)
			return status;
		argv[i] = text.ptr;
	}
	*ret = argv;
	return ASSAY_OK;
}

/* The descriptor's `env` and the step's, which wins: a name given twice would be read by one program so, by another so.
 */
static int expand_env(const struct command *self, const struct assay_source *source, const struct names *names,
                      const struct assay_node *step, const char ***ret, struct assay_error *err)
{
	const struct assay_host *host = self->host;
	const struct assay_node *maps[] = {host->node_get(self->descriptor, "env"), host->node_get(step, "env")};
	const char **env = list_new(self, source, host->node_count(maps[0]) + host->node_count(maps[1]));
	size_t count = 0;
	for (size_t m = 0; m < 2; m++) {
		for (size_t i = 0; i < host->node_count(maps[m]); i++) {
			struct assay_str value;
			const char *name = host->node_key(maps[m], i).ptr;
			if (m == 0 && host->node_get(maps[1], name))
				continue;
			int status = expand(self, source, names, host->node_at(maps[m], i), &value, err);
			if (status)
				return status;
			env[count++] = host->format(source->scope, "%s=%s", name, value.ptr).ptr;
		}
	}
	*ret = env;
	return ASSAY_OK;
}

static int plan_step(const struct command *self, const struct assay_source *source, const struct names *names,
                     enum assay_phase phase, const struct assay_plan_sink *sink, struct assay_error *err)
{
	const struct assay_node *step =
	    self->host->node_get(self->descriptor, phase == ASSAY_PHASE_BUILD ? "build" : "run");
	const char **argv = NULL, **env = NULL;
	if (!step)
		return ASSAY_OK;
	int status = expand_argv(self, source, names, self->host->node_get(step, "argv"), &argv, err);
	if (status == ASSAY_OK)
		status = expand_env(self, source, names, step, &env, err);
	return status ? status : sink->step(sink->arg, phase, argv, env, err);
}

static int command_plan(void *self_, const struct assay_source *source, const struct assay_plan_sink *sink,
                        struct assay_error *err)
{
	const struct command *self = (const struct command *)self_;
	struct names names;
	collect_names(self, source, &names);
	int status = sink->file(sink->arg, self->source, source->code, 0644, err);
	if (status == ASSAY_OK)
		status = plan_step(self, source, &names, ASSAY_PHASE_BUILD, sink, err);
	if (status == ASSAY_OK)
		status = plan_step(self, source, &names, ASSAY_PHASE_RUN, sink, err);
	return status;
}

static void command_destroy(void *self)
{
	free(self);
}

static int is_name(const struct command *self, const char *name, size_t len)
{
	static const char prefix[] = "option.";
	const struct assay_node *options = self->host->node_get(self->descriptor, "options");
	if ((len == 6 && !memcmp(name, "source", len)) || (len == 10 && !memcmp(name, "memory.mib", len)))
		return 1;
	if (len < sizeof(prefix) || memcmp(name, prefix, sizeof(prefix) - 1))
		return 0;
	for (size_t i = 0; i < self->host->node_count(options); i++) {
		struct assay_str key = self->host->node_key(options, i);
		if (key.len == len - (sizeof(prefix) - 1) && !memcmp(key.ptr, name + sizeof(prefix) - 1, key.len))
			return 1;
	}
	return 0;
}

/* There is no source yet, and so no scope to substitute in: the names alone are looked at. */
static int check_template(const struct command *self, const struct assay_node *node, struct assay_error *err)
{
	struct assay_str text;
	int status = self->host->node_str(node, &text, err);
	if (status)
		return status;
	for (const char *at = text.ptr; (at = strchr(at, '$')); at++) {
		if (!strncmp(at, "$${", 3)) {
			at += 2;
			continue;
		}
		if (at[1] != '{')
			continue;
		const char *end = strchr(at, '}');
		if (!end)
			return self->host->fail_at(err, node, "'${' without its '}' (write '$${' for a literal '${')");
		if (!is_name(self, at + 2, (size_t)(end - at - 2)))
			return self->host->fail_at(err, node,
			                           "nothing is named '%.*s'; the names here are ${source}, "
			                           "${memory.mib} and ${option.NAME} for every option",
			                           (int)(end - at > 60 ? 60 : end - at + 1), at);
		at = end;
	}
	return ASSAY_OK;
}

static int check_templates(const struct command *self, const struct assay_node *parent, struct assay_error *err)
{
	int status = ASSAY_OK;
	for (size_t i = 0; status == ASSAY_OK && i < self->host->node_count(parent); i++)
		status = check_template(self, self->host->node_at(parent, i), err);
	return status;
}

static int check_descriptor(struct command *self, struct assay_error *err)
{
	const struct assay_host *host = self->host;
	const struct assay_node *build = host->node_get(self->descriptor, "build");
	const struct assay_node *run = host->node_get(self->descriptor, "run");
	const struct assay_node *templates[] = {
	    host->node_get(self->descriptor, "env"),
	    host->node_get(build, "argv"),
	    host->node_get(build, "env"),
	    host->node_get(run, "argv"),
	    host->node_get(run, "env"),
	};
	int status = host->node_str(host->node_get(self->descriptor, "source"), &self->source, err);
	if (status == ASSAY_OK && !run)
		return host->fail_at(err, self->descriptor, "'run' is missing: {argv: [...]}, the command to run");
	for (size_t i = 0; status == ASSAY_OK && i < sizeof(templates) / sizeof(templates[0]); i++)
		status = check_templates(self, templates[i], err);
	return status;
}

static int command_create(const struct assay_host *host, const struct assay_node *descriptor, void **ret_self,
                          struct assay_error *err)
{
	struct command *self = (struct command *)calloc(1, sizeof(*self));
	if (!self)
		return host->fail(err, ASSAY_INTERNAL, 0, "out of memory");
	self->host = host;
	self->descriptor = descriptor;
	int status = check_descriptor(self, err);
	if (status) {
		free(self);
		return status;
	}
	*ret_self = self;
	return ASSAY_OK;
}

static const struct assay_language_ops ops = {sizeof(ops), command_create, command_destroy, command_plan};

ASSAY_PLUGIN(command, ASSAY_KIND_LANGUAGE, "1.0.0", &ops);
