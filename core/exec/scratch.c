/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/scratch.h"
#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/str.h"
#include "exec/scratch_lock.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#define PREFIX       "assay-"
#define RANDOM_BYTES 6
#define NAME_LEN     (sizeof(PREFIX) - 1 + 2 * RANDOM_BYTES)

/* Removes what an instance left that is gone. */
static void sweep_one(int parent_fd, const char *name)
{
	struct assay_error err = {0};
	if (scratch_remove_dead(parent_fd, name, &err))
		log_line(LOG_WARNING, "cannot remove '%s' of an earlier run: %s", name, err.message);
}

static void sweep(int parent_fd)
{
	int copy_fd = openat(parent_fd, ".", O_DIRECTORY | O_CLOEXEC);
	auto_closedir DIR *dir = copy_fd < 0 ? NULL : fdopendir(copy_fd);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));)
		if (!strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) && strlen(entry->d_name) == NAME_LEN)
			sweep_one(parent_fd, entry->d_name);
}

int scratch_open(struct scratch *ret, struct assay_error *err)
{
	const char *parent = getenv("TMPDIR");
	if (!parent || parent[0] != '/')
		parent = "/tmp";
	memset(ret, 0, sizeof(*ret));
	auto_close int parent_fd = dir_open(parent, err);
	if (parent_fd < 0)
		return error_wrap(err, "the folder for temporary files (TMPDIR)");
	sweep(parent_fd);

	unsigned char random[RANDOM_BYTES];
	random_bytes(random, sizeof(random));
	auto_buffer struct buffer name = {0};
	buffer_append(&name, PREFIX, sizeof(PREFIX) - 1);
	hex_append(&name, random, sizeof(random));
	memcpy(ret->name, name.data, name.len + 1);

	/* Searchable, so that programs under another user id reach their workspace; not listable. */
	char unlocked[sizeof(ret->name) + 1]; /* a name that nobody sweeps, until the lock is held */
	snprintf(unlocked, sizeof(unlocked), ".%s", ret->name);
	auto_close int fd = dir_make(parent_fd, unlocked, 0711, err);
	if (fd < 0)
		return error_wrap(err, "the folder for temporary files, '%s'", parent);
	ret->lock_fd = scratch_lock(fd);
	if (ret->lock_fd < 0 || renameat(parent_fd, unlocked, parent_fd, ret->name))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot lock '%s/%s'", parent, ret->name);
	size_t path_size = strlen(parent) + sizeof(ret->name) + 1;
	ret->path = xmalloc(path_size);
	snprintf(ret->path, path_size, "%s/%s", parent, ret->name);
	ret->parent_fd = steal_fd(&parent_fd);
	ret->fd = steal_fd(&fd);
	return 0;
}

void scratch_close(struct scratch *scratch)
{
	if (!scratch->path)
		return;
	struct assay_error err = {0};
	if (tree_remove(scratch->parent_fd, scratch->name, &err))
		log_line(LOG_WARNING, "cannot remove '%s': %s", scratch->path, err.message);
	close(scratch->fd);
	close(scratch->lock_fd);
	close(scratch->parent_fd);
	free(scratch->path);
	memset(scratch, 0, sizeof(*scratch));
}

int workspace_make(const struct scratch *scratch, struct workspace *ret, struct assay_error *err)
{
	static atomic_uint_fast64_t counter;
	memset(ret, 0, sizeof(*ret));
	ret->scratch = scratch;
	snprintf(ret->name, sizeof(ret->name), "w%" PRIuFAST64, atomic_fetch_add(&counter, 1));
	ret->fd = dir_make(scratch->fd, ret->name, 0755, err);
	if (ret->fd < 0)
		return ret->fd;
	if (mkdirat(ret->fd, ".tmp", 0700)) {
		int status = error_set(err, ASSAY_SYSTEM, errno, "cannot make a workspace in '%s'", scratch->path);
		workspace_remove(ret);
		return status;
	}
	return 0;
}

int workspace_fill(const struct workspace *workspace, const struct plan_file *files, size_t count,
                   struct assay_error *err)
{
	for (size_t i = 0; i < count; i++) {
		int status = file_write_beneath(workspace->fd, files[i].path, files[i].content, files[i].mode, err);
		if (status)
			return status;
	}
	return 0;
}

int workspace_give(const struct workspace *workspace, const struct plan_box *box, struct assay_error *err)
{
	if (!box->has_identity)
		return 0;
	return tree_chown(workspace->scratch->fd, workspace->name, box->uid, box->gid, err);
}

void workspace_remove(struct workspace *workspace)
{
	if (!workspace->scratch)
		return;
	struct assay_error err = {0};
	if (tree_remove(workspace->scratch->fd, workspace->name, &err))
		log_line(LOG_WARNING, "cannot remove a workspace: %s", err.message);
	close(workspace->fd);
	memset(workspace, 0, sizeof(*workspace));
}
