/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: worker threads, one per box at a time. Work comes as jobs, each made of units; jobs take turns unit by unit,
 * so one with a thousand cases does not keep others waiting.
 */
#ifndef EXEC_SLOTS_H
#define EXEC_SLOTS_H

#include "exec/spawner.h"

struct slots;

/* A thread and its way to the spawner. */
struct slot {
	struct spawner_link *link;
};

/*
 * A piece of work; embed it in a struct of your own. Unit 0 runs first and alone and may raise `units`; units 1 to
 * units - 1 then run in any order, in parallel; after the last of them finish() is called once and may free the job.
 */
struct job {
	void (*run)(struct job *job, size_t unit, struct slot *slot);
	void (*finish)(struct job *job);
	size_t units; /* at least 1 */
	/* of slots.c: */
	size_t started, ended;
	struct job *next;
};

int slots_open(struct spawner *spawner, int count, struct slots **ret, struct assay_error *err);
/* Finishes all jobs first. Accepts NULL. */
void slots_close(struct slots *slots);
/* Blocks while `backlog` (two a slot, and two more) jobs are unfinished. Any thread but a slot's. */
void slots_submit(struct slots *slots, struct job *job);
/* Blocks until no job is unfinished. Any thread but a slot's. */
void slots_wait(struct slots *slots);

#endif
