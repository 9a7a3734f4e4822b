/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: one small process per box, between the front and the program. It owns the life of everything in the box:
 * it makes the cgroup, starts the program, watches its clocks, kills whatever is left when the program ends, when a
 * limit is hit, when the front asks or when the front dies, and only then reports. So nothing outlives a run even when
 * Assay itself is killed.
 */
#ifndef EXEC_KEEPER_H
#define EXEC_KEEPER_H

#include "exec/wire.h"

/*
 * Becomes the keeper of box `sequence` and never returns. Called in a fresh single-threaded child of the spawner;
 * `fds` are the descriptors of SPAWNER_SPAWN, fds[SPAWN_MARK] is -1 when there is no mark channel.
 */
_Noreturn void keeper_run(const struct cgroup_root *root, uint64_t sequence, const struct spawn_sheet *sheet,
                          const int fds[SPAWN_FD_MAX]);
/* The name of a box's cgroup. */
void keeper_cgroup_name(uint64_t sequence, char name[32]);

#endif
