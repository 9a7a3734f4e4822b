/* SPDX-License-Identifier: Apache-2.0 */
/* The small files of a cgroup folder, and what both halves of the cgroup code do with them. Private to sys/. */
#ifndef SYS_CGROUP_FILES_H
#define SYS_CGROUP_FILES_H

#include "base/defs.h"
#include <stdint.h>
#include <sys/types.h>

/* All relative to a folder's descriptor; 0 or true when it worked, errno otherwise. Only system calls. */
int cgroup_write(int folder, const char *name, const char *text);
int cgroup_write_number(int folder, const char *name, uint64_t value);
/* The whole of a small file, NUL-terminated. */
bool cgroup_read_text(int folder, const char *name, char *text, size_t size);
bool cgroup_read_number(int folder, const char *name, uint64_t *ret);
/* The number behind `key` in a file of "key number" lines; 0 when there is none. */
uint64_t cgroup_read_keyed(int folder, const char *name, const char *key);
/* Calls back for every process that is in the folder's group and can be seen from here. */
void cgroup_visit_processes(int folder, void (*visit)(pid_t pid, void *arg), void *arg);
/* Signals every process in the group and in groups within it, but init and the caller (0: only counts); how many. */
int cgroup_signal(int folder, int number);
/* Nobody in the group may fork from here on, where the kernel can do that; v2 also kills all. */
void cgroup_stop_forks(int folder);
/*
 * Closes *fd and removes the folder `name` of `parent` with what was made in it, waiting two seconds while the kernel
 * still counts dying processes there.
 */
void cgroup_remove_folder(int parent, int *fd, const char *name);

#endif
