/* SPDX-License-Identifier: Apache-2.0 */
/* One step in one box, from the plan to the record. */
#ifndef EXEC_BOX_H
#define EXEC_BOX_H

#include "exec/scratch.h"
#include "exec/spawner.h"
#include "model/record.h"

struct box {
	const struct plan_step *step;
	const struct plan_box *settings;
	const struct workspace *workspace; /* the working directory, HOME; already filled */
	const char *const *args;           /* appended to the step's argv; NULL-terminated; may be NULL */
	struct assay_str stdin_data;
	bool has_mark; /* gives the program descriptor 3 */
	int cancel_fd; /* becomes readable when the run is to end */
};

/*
 * Runs the step and returns when nothing of it is left. Everything that can happen is in the record (zeroed before; end
 * it with step_record_free()): a failure of Assay or its host is STEP_ERROR with the reason in record->error.
 *
 * Without isolation a program may kill its own keeper; so may the host, and nobody can tell which it was. Such a record
 * is STEP_SIGNALLED with is_keeper_lost set, and only counts when it happens again in a fresh box: bad luck does not
 * strike twice, and a hostile completion must not pass for bad luck for ever.
 */
void box_run(struct spawner_link *link, const struct box *box, struct step_record *record);
/* The protections that limits enjoy on this host, as the spawner found it. */
void box_protections(const struct spawner_hello *facts, struct protections *protections);

#endif
