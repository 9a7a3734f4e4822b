/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/engine.h"
#include "base/arena.h"
#include "base/error.h"
#include "pipeline/work.h"
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

struct engine {
	struct spawner *spawner;
	struct registry *registry;
	struct scratch scratch;
	struct slots *slots;
	struct workshop workshop;
};

/* As many descriptors as the host allows: about ten a box. Programs get their own, lower limit. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A box takes about ten descriptors of the front. One too few in the middle of a run would be a failure of ours. */
static int check_descriptors(int slots, struct assay_error *err)
{
	struct rlimit limit;
	rlim_t needed = 64 + 16 * (rlim_t)slots;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
		return 0;
	return error_set(err, ASSAY_MISSING, 0,
	                 "%d boxes at a time take %llu open files and the hard limit is %llu: raise it (ulimit -Hn), "
	                 "or run fewer at a time (--jobs)",
	                 slots, (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}

static int usable_cpus(void)
{
	cpu_set_t cpus;
	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : MAX(CPU_COUNT(&cpus), 1);
}

static int open_parts(struct engine *engine, const struct engine_config *config, struct assay_error *err)
{
	struct workshop *workshop = &engine->workshop;
	int slots = config->slots > 0 ? config->slots : usable_cpus();
	int status = check_descriptors(slots, err);
	if (status == 0)
		status = spawner_start(config->spawner, &engine->spawner, err);
	if (status == 0)
		status = registry_open(config->plugin_roots, PLANNER_PATH, &engine->registry, err);
	if (status == 0)
		status = scratch_open(&engine->scratch, err);
	if (status == 0)
		status = spawner_guard(engine->spawner, engine->scratch.parent_fd, engine->scratch.name, err);
	if (status)
		return status;
	workshop->planner = planner_new(engine->registry, spawner_facts(engine->spawner));
	workshop->layers = layers_new(&engine->scratch);
	workshop->scratch = &engine->scratch;
	workshop->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (workshop->cancel_fd < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "eventfd");
	return slots_open(engine->spawner, slots, &engine->slots, err);
}

int engine_open(const struct engine_config *config, struct engine **ret, struct assay_error *err)
{
	struct engine *engine = xmalloc(sizeof(*engine));
	engine->workshop.cancel_fd = -1;
	signal(SIGPIPE, SIG_IGN); /* a program that does not read its input is no reason to die */
	raise_descriptor_limit();
	int status = open_parts(engine, config, err);
	if (status) {
		engine_close(engine);
		return status;
	}
	*ret = engine;
	return 0;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	slots_close(engine->slots);
	if (engine->workshop.cancel_fd >= 0)
		close(engine->workshop.cancel_fd);
	layers_free(engine->workshop.layers);
	planner_free(engine->workshop.planner);
	scratch_close(&engine->scratch);
	registry_close(engine->registry);
	spawner_stop(engine->spawner);
	free(engine);
}

const struct registry *engine_registry(const struct engine *engine)
{
	return engine->registry;
}

void engine_submit(struct engine *engine, struct request *request)
{
	slots_submit(engine->slots, work_new(&engine->workshop, request));
}

int engine_explain(struct engine *engine, struct request *request, struct plan *ret, struct assay_error *err)
{
	const struct planner_source source = {.language = request->language,
	                                      .code = request->run.code,
	                                      .files = request->run.files,
	                                      .file_count = request->run.file_count,
	                                      .limits = request->run.limits};
	return planner_plan(engine->workshop.planner, request->arena, request->pipeline, &source, ret, err);
}

void engine_wait(struct engine *engine)
{
	slots_wait(engine->slots);
}

void engine_cancel(struct engine *engine)
{
	const uint64_t one = 1;
	ssize_t n = write(engine->workshop.cancel_fd, &one, sizeof(one));
	(void)n; /* full means that it is readable already */
}
