/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front's watch over one running box: it feeds standard input, takes what the program writes, and waits for the
 * keeper's report. One poll loop. The life of the processes is the keeper's business.
 */
#ifndef EXEC_SUPERVISE_H
#define EXEC_SUPERVISE_H

#include "exec/wire.h"
#include "model/record.h"

struct supervision {
	/* in: the front's ends, -1 where there is none; closed when supervise() returns but where it says borrowed */
	int stdin_fd, stdout_fd, stderr_fd, mark_fd;
	int control_fd;
	int keeper_fd; /* pidfd; borrowed */
	int cancel_fd; /* readable when the run is to end; borrowed */
	struct assay_str stdin_data;
	const struct limits *limits;
	/* out */
	struct keeper_report report;
	bool is_flooded;       /* ended because a stream passed flood_bytes */
	bool is_cancelled;     /* ended because cancel_fd became readable */
	bool is_keeper_killed; /* on failure: somebody killed the keeper; not that it was too slow */
};

#define MARK_BYTES_MAX ((size_t)64 << 10)

/*
 * Returns when nothing of the box is left and its output has been read: streams go into *record. Only fails when the
 * keeper is lost; then its processes may live on (spawner_mop_up()).
 */
int supervise(struct supervision *supervision, struct step_record *record, struct assay_error *err);

#endif
