/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request on its way: the stages of its pipeline, carried out unit by unit on slots.
 *
 *   unit 0        extract and build: the dataset turns the completion into sources and cases, each source is planned
 * and built once units 1..n    run: one case each, checked as soon as it has been observed finish        judge: the
 * verdict over all cases; done()
 */
#ifndef PIPELINE_WORK_H
#define PIPELINE_WORK_H

#include "exec/layers.h"
#include "exec/slots.h"
#include "pipeline/planner.h"
#include "pipeline/request.h"

/* What every request needs of the engine. */
struct workshop {
	struct planner *planner;
	struct layers *layers;
	const struct scratch *scratch;
	int cancel_fd; /* an eventfd: readable once everything is to end */
};

/* Takes the request over; the job frees both when finished. */
struct job *work_new(const struct workshop *workshop, struct request *request);

#endif
