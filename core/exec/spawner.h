/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front's side of the spawner. A `spawner_link` belongs to one slot and carries one box at a time. A spawner that
 * dies is started again by the next link that needs it.
 */
#ifndef EXEC_SPAWNER_H
#define EXEC_SPAWNER_H

#include "exec/wire.h"

#define SPAWNER_LINKS_MAX 1024

struct spawner;
struct spawner_link;

/* Starts `program` (the path of assay-spawner). Any thread; the caller's descriptors must all be close-on-exec. */
int spawner_start(const char *program, struct spawner **ret, struct assay_error *err);
/* All links must be closed. Waits for the spawner, which removes its cgroups. Accepts NULL. */
void spawner_stop(struct spawner *spawner);
/* What the spawner found on this host. */
const struct spawner_hello *spawner_facts(const struct spawner *spawner);
/* Tells which folder to remove should the front die; `parent` is borrowed. */
int spawner_guard(struct spawner *spawner, int parent, const char *name, struct assay_error *err);

int spawner_connect(struct spawner *spawner, struct spawner_link **ret, struct assay_error *err);
void spawner_disconnect(struct spawner_link *link); /* accepts NULL */

/* A keeper, waiting for its START message. */
struct prepared_keeper {
	int keeper_fd;  /* pidfd */
	int control_fd; /* the front's end of its control socket */
	uint64_t sequence;
};

/*
 * Takes the keeper that was prepared beforehand, or waits for one. A spawner that has died is replaced. The caller owns
 * both descriptors.
 */
int spawner_take(struct spawner_link *link, struct prepared_keeper *ret, struct assay_error *err);
/* Asks for the next keeper without waiting for it. A failure shows when it is taken. */
void spawner_prepare(struct spawner_link *link);
/*
 * Takes the pidfd of a keeper that has reported or died back, to reap it later: it has its cgroup to remove still, and
 * the next run need not wait for that.
 */
void spawner_retire(struct spawner_link *link, int keeper_fd);
/* Kills and removes what a box left whose keeper died without a report. */
int spawner_mop_up(struct spawner_link *link, uint64_t sequence, struct assay_error *err);

#endif
