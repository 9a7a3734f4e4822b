/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long evaluation is, on standard error: a bar on a terminal, a line every few seconds elsewhere. */
#ifndef BATCH_PROGRESS_H
#define BATCH_PROGRESS_H

#include "base/defs.h"

struct progress {
	bool is_quiet;
	bool is_terminal;
	int64_t started_ns, shown_ns;
};

/* What is shown. */
struct progress_state {
	int64_t finished, accepted;
	uint64_t bytes_done, bytes_all; /* of the completions; bytes_all 0: unknown */
};

void progress_start(struct progress *progress, bool is_quiet);
/* Cheap; call after every result, one thread at a time. Shows when it is due. */
void progress_update(struct progress *progress, const struct progress_state *state);
void progress_end(struct progress *progress); /* clears the bar */

#endif
