/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything a front needs, opened once: spawner, plugins, slots, layers. Order matters and is kept here: the spawner
 * is forked before anything else, plugins are loaded before threads exist.
 */
#ifndef PIPELINE_ENGINE_H
#define PIPELINE_ENGINE_H

#include "pipeline/pipeline.h"
#include "pipeline/request.h"
#include "plugin/registry.h"

struct engine;

struct engine_config {
	const char *const *plugin_roots; /* NULL-terminated; searched in order */
	const char *spawner;             /* path of assay-spawner */
	int slots;                       /* boxes at a time; 0: one per CPU this process may use */
};

/* Call before any thread exists. */
int engine_open(const struct engine_config *config, struct engine **ret, struct assay_error *err);
/* Waits for what was submitted, then ends threads and spawner and removes all temporary files. Accepts NULL. */
void engine_close(struct engine *engine);

const struct registry *engine_registry(const struct engine *engine);

/*
 * Queues a request; it belongs to the engine until its done() returns. Blocks while as many requests are in flight as
 * keep every slot busy, so a caller may stream a file of any size. Requests share the slots fairly: each
 * gets its next case in turn. Any thread, except from within done().
 */
void engine_submit(struct engine *engine, struct request *request);
/* The plan that a run request would be carried out by; nothing is run. Lives in the request's arena. */
int engine_explain(struct engine *engine, struct request *request, struct plan *ret, struct assay_error *err);
/* Blocks until nothing is in flight. */
void engine_wait(struct engine *engine);
/* Asks everything in flight to end soon: running boxes are killed, waiting cases end as infrastructure "cancelled". */
void engine_cancel(struct engine *engine);

#endif
