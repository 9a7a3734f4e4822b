/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/scratch_lock.h"
#include "base/files.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOCK_NAME ".lock"

/* Takes the lock; -1 when somebody holds it. */
static int take(int folder_fd, int flags)
{
	auto_close int fd = openat(folder_fd, LOCK_NAME, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -1;
	return steal_fd(&fd);
}

int scratch_lock(int folder_fd)
{
	return take(folder_fd, O_CREAT | O_EXCL);
}

int scratch_remove_dead(int parent_fd, const char *name, struct assay_error *err)
{
	auto_close int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid())
		return 0;
	auto_close int lock_fd = take(fd, 0);
	return lock_fd < 0 ? 0 : tree_remove(parent_fd, name, err);
}
