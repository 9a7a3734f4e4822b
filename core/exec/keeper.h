/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: one small process per box, between the front and the program. It owns the life of everything in the box:
 * it makes the cgroup, watches the program's clocks, kills whatever is left when the program ends, when a limit is hit,
 * when the front asks or when the front dies, and only then reports. So nothing outlives a run even when Assay itself
 * is killed.
 *
 * A keeper is made before it is needed and used once. Its child, the stem, is put into the cgroup at that time and
 * becomes the program by exec: entering a cgroup can cost a grace period of the kernel's RCU (12 ms measured on a 100
 * Hz kernel), which nobody should wait for at the start of a run.
 */
#ifndef EXEC_KEEPER_H
#define EXEC_KEEPER_H

#include "exec/wire.h"

/* Becomes the keeper of box `sequence` and never returns. Called in a fresh single-threaded child of the spawner. */
_Noreturn void keeper_run(const struct cgroup_root *root, uint64_t sequence, int control_fd);
/* The name of a box's cgroup. */
void keeper_cgroup_name(uint64_t sequence, char name[32]);

#endif
