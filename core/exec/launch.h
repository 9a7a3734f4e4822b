/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's side of a clone: from the keeper's fresh child to execve(2). Only system calls and the stack; what goes
 * wrong is written to `error_fd` as one struct assay_error, so that a failure of ours is never taken for an exit code
 * of the program.
 */
#ifndef EXEC_LAUNCH_H
#define EXEC_LAUNCH_H

#include "exec/wire.h"

_Noreturn void launch_program(const struct spawn_sheet *sheet, const int fds[SPAWN_FD_MAX], const struct cgroup *cgroup,
                              int error_fd);

#endif
