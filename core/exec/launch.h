/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stem: the program's process before it is the program. It enters the cgroup, tells the keeper that it is ready,
 * waits for the START message and goes on to execve(2). What goes wrong is written to its socket as one struct
 * assay_error, so that a failure of ours is never taken for an exit code of the program.
 */
#ifndef EXEC_LAUNCH_H
#define EXEC_LAUNCH_H

#include "exec/wire.h"

_Noreturn void launch_stem(const struct cgroup *cgroup, int keeper_fd);

#endif
