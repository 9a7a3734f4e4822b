/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"
#include "base/error.h"
#include "base/str.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

bool path_is_plain(struct assay_str path)
{
	struct assay_str rest = path, part;
	if (path.len == 0 || path.len >= PATH_MAX || path.ptr[path.len - 1] == '/' || memchr(path.ptr, 0, path.len))
		return false;
	while (str_cut(&rest, '/', &part))
		if (part.len == 0 || part.len > NAME_MAX || str_is(part, ".") || str_is(part, ".."))
			return false;
	return true;
}

int dir_open(const char *path, struct assay_error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : error_set(err, ASSAY_SYSTEM, errno, "cannot open the folder '%s'", path);
}

int dir_make(int at, const char *name, mode_t mode, struct assay_error *err)
{
	if (mkdirat(at, name, 0700))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot make the folder '%s'", name);
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, mode)) { /* not by mkdirat, whose mode the umask cuts */
		int saved = errno;
		if (fd >= 0)
			close(fd);
		return error_set(err, ASSAY_SYSTEM, saved, "cannot open the folder '%s'", name);
	}
	return fd;
}

/* A path that is not NUL-terminated, for system calls. */
static int copy_path(char copy[PATH_MAX], struct assay_str path, struct assay_error *err)
{
	if (!path_is_plain(path))
		return error_set(err, ASSAY_INVALID, 0, "'%.*s' is no plain relative path (without '.' and '..' parts)",
		                 STR_ARG(path));
	memcpy(copy, path.ptr, path.len);
	copy[path.len] = 0;
	return 0;
}

static int open_beneath(int at, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
	                       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	for (;;) {
		int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN) /* EAGAIN: something was renamed meanwhile */
			return fd;
	}
}

int dir_open_beneath(int at, struct assay_str path, struct assay_error *err)
{
	char copy[PATH_MAX];
	int status = copy_path(copy, path, err);
	if (status)
		return status;
	int fd = open_beneath(at, copy, O_RDONLY | O_DIRECTORY);
	return fd >= 0 ? fd : error_set(err, ASSAY_SYSTEM, errno, "cannot open the folder '%s'", copy);
}

/* Opens the parent of `path`, making what is missing, step by step; *ret_name is the last component. */
static int open_parent(int at, char *path, const char **ret_name, struct assay_error *err)
{
	auto_close int folder = fcntl(at, F_DUPFD_CLOEXEC, 0);
	for (char *slash; folder >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		*slash = 0;
		if (mkdirat(folder, path, 0755) && errno != EEXIST)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot make the folder '%s'", path);
		int next = openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot open the folder '%s'", path);
		close(folder);
		folder = next;
	}
	*ret_name = path;
	return folder >= 0 ? steal_fd(&folder) : error_set(err, ASSAY_SYSTEM, errno, "cannot duplicate a descriptor");
}

int file_write_all(int fd, struct assay_str content)
{
	while (content.len > 0) {
		ssize_t n = write(fd, content.ptr, content.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		content = str_slice(content, (size_t)n, content.len);
	}
	return 0;
}

int file_write_beneath(int at, struct assay_str path, struct assay_str content, mode_t mode, struct assay_error *err)
{
	char copy[PATH_MAX];
	const char *name;
	int status = copy_path(copy, path, err);
	if (status)
		return status;
	auto_close int folder = open_parent(at, copy, &name, err);
	if (folder < 0)
		return folder;
	auto_close int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot make the file '%.*s'", STR_ARG(path));
	if (file_write_all(fd, content) || fchmod(fd, mode))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot write the file '%.*s'", STR_ARG(path));
	return 0;
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFLNK:
		return "a symbolic link";
	default:
		return "a device";
	}
}

/* Reads up to `limit` bytes, whatever the file's size says. */
static int read_some(int fd, size_t limit, struct buffer *out)
{
	for (size_t done = 0; done < limit;) {
		size_t want = MIN(limit - done, (size_t)1 << 20);
		ssize_t n = read(fd, buffer_reserve(out, want), want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		out->len += (size_t)n;
		out->data[out->len] = 0;
		done += (size_t)n;
	}
	return 0;
}

int file_read_beneath(int at, struct assay_str path, size_t limit, struct buffer *out, uint64_t *ret_size,
                      struct assay_error *err)
{
	char copy[PATH_MAX], by_fd[64];
	int status = copy_path(copy, path, err);
	if (status)
		return status;
	/* O_PATH opens nothing: a FIFO does not block and a device does not notice. */
	auto_close int place = open_beneath(at, copy, O_PATH | O_NOFOLLOW);
	struct stat st;
	if (place < 0 || fstat(place, &st))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", copy);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ASSAY_INVALID, 0, "'%s' is %s, not a regular file", copy, type_name(st.st_mode));
	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", place);
	auto_close int fd = open(by_fd, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || read_some(fd, limit, out))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", copy);
	if (ret_size)
		*ret_size = (uint64_t)st.st_size;
	return 0;
}

int file_read(const char *path, size_t limit, struct buffer *out, struct assay_error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t before = out->len;
	if (fd < 0 || read_some(fd, limit + 1, out))
		return error_set(err, errno == ENOENT ? ASSAY_INVALID : ASSAY_SYSTEM, errno, "cannot read '%s'", path);
	if (out->len - before > limit)
		return error_set(err, ASSAY_LIMIT, 0, "'%s' is larger than %zu bytes", path, limit);
	return 0;
}

static DIR *open_listing(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	if (!dir && copy >= 0)
		close(copy);
	return dir;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int copy_content(int from, int to)
{
	for (;;) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			break;
	}
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return -1;
	char block[1 << 16];
	for (ssize_t n; (n = read(from, block, sizeof(block))) != 0;) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || file_write_all(to, (struct assay_str){block, (size_t)n}))
			return -1;
	}
	return 0;
}

static int copy_file(int from, int to, const char *name, const struct stat *st)
{
	auto_close int source = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	auto_close int target = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return source < 0 || target < 0 || copy_content(source, target) || fchmod(target, st->st_mode & 01777) ? -1 : 0;
}

static int copy_link(int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);
	if (n < 0)
		return -1;
	target[n] = 0;
	return symlinkat(target, to, name);
}

#define COPY_DEPTH_MAX 256

static int copy_folder(int from, int to, int depth, struct assay_error *err);

static int copy_entry(int from, int to, const char *name, int depth, struct assay_error *err)
{
	struct stat st;
	int failed = fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW);
	if (!failed && S_ISDIR(st.st_mode)) {
		auto_close int source = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (source < 0)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot copy the folder '%s'", name);
		auto_close int target = dir_make(to, name, 0700, err);
		if (target < 0)
			return target;
		int status = copy_folder(source, target, depth + 1, err);
		return status ? status
		       : fchmod(target, st.st_mode & 01777)
		           ? error_set(err, ASSAY_SYSTEM, errno, "cannot copy the folder '%s'", name)
		           : 0;
	}
	if (!failed && S_ISREG(st.st_mode))
		failed = copy_file(from, to, name, &st);
	else if (!failed && S_ISLNK(st.st_mode))
		failed = copy_link(from, to, name);
	return failed ? error_set(err, ASSAY_SYSTEM, errno, "cannot copy '%s'", name) : 0;
}

static int copy_folder(int from, int to, int depth, struct assay_error *err)
{
	if (depth > COPY_DEPTH_MAX)
		return error_set(err, ASSAY_LIMIT, 0, "folders are nested more than %d deep", COPY_DEPTH_MAX);
	auto_closedir DIR *dir = open_listing(from);
	if (!dir)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot list a folder");
	int status = 0;
	for (struct dirent *entry; status == 0 && (entry = readdir(dir));)
		if (!is_dots(entry->d_name))
			status = copy_entry(from, to, entry->d_name, depth, err);
	return status;
}

int tree_copy(int from, int to, struct assay_error *err)
{
	return copy_folder(from, to, 0, err);
}

static int add_sizes(int folder, int depth, uint64_t *total, struct assay_error *err)
{
	auto_closedir DIR *dir = open_listing(folder);
	if (!dir || depth > COPY_DEPTH_MAX)
		return error_set(err, ASSAY_LIMIT, dir ? 0 : errno, "cannot list a folder %d deep", depth);
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat st;
		if (is_dots(entry->d_name) || fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode))
			*total += (uint64_t)st.st_size;
		if (!S_ISDIR(st.st_mode))
			continue;
		auto_close int sub = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int status = sub < 0 ? 0 : add_sizes(sub, depth + 1, total, err);
		if (status)
			return status;
	}
	return 0;
}

int tree_size(int dir, uint64_t *ret_bytes, struct assay_error *err)
{
	*ret_bytes = 0;
	return add_sizes(dir, 0, ret_bytes, err);
}

/* -- removal -- */

/*
 * A tree is removed by flattening: the folders in a folder of the root are moved up into the root, so that every folder
 * is emptied at depth one. Depth costs neither descriptors nor stack, and nothing is ever reached through a path.
 */
struct removal {
	int root;
	uint64_t mount_id;
	unsigned long moved; /* makes names */
	bool has_progress;
};

static uint64_t mount_of(int fd)
{
	struct statx st;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) || !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

/* Opens a folder of our own, making it accessible when its owner took that away; -1 with errno (ENOTDIR, ENOENT, ...).
 */
static int open_owned(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		struct stat st;
		if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
			fchmod(fd, 0700);
		return fd;
	}
	if (errno != EACCES)
		return -1;
	auto_close int place = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char by_fd[64];
	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", place);
	if (place < 0 || chmod(by_fd, 0700))
		return -1;
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int move_up(struct removal *removal, int folder, const char *name)
{
	cleanup_close(&(int){open_owned(folder, name)}); /* moving a folder takes write permission on it */
	for (int attempt = 0; attempt < 1000; attempt++) {
		char moved[32];
		snprintf(moved, sizeof(moved), ".gone-%lu", removal->moved++);
		if (renameat2(folder, name, removal->root, moved, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* Empties a folder of the root and removes it. */
static void remove_folder(struct removal *removal, const char *name)
{
	auto_close int folder = open_owned(removal->root, name);
	if (folder < 0 || mount_of(folder) != removal->mount_id)
		return;
	auto_closedir DIR *dir = open_listing(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (is_dots(entry->d_name))
			continue;
		if (unlinkat(folder, entry->d_name, 0) == 0 ||
		    ((errno == EISDIR || errno == EPERM) && move_up(removal, folder, entry->d_name) == 0))
			removal->has_progress = true;
	}
	if (unlinkat(removal->root, name, AT_REMOVEDIR) == 0)
		removal->has_progress = true;
}

/* One pass over the root; true when nothing was found in it. */
static bool remove_pass(struct removal *removal)
{
	bool is_empty = true;
	auto_closedir DIR *dir = open_listing(removal->root);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (is_dots(entry->d_name))
			continue;
		is_empty = false;
		if (unlinkat(removal->root, entry->d_name, 0) == 0)
			removal->has_progress = true;
		else if (errno == EISDIR || errno == EPERM)
			remove_folder(removal, entry->d_name);
	}
	return dir && is_empty;
}

int tree_remove(int at, const char *name, struct assay_error *err)
{
	auto_close int root = open_owned(at, name);
	if (root < 0 && errno == ENOENT)
		return 0;
	if (root < 0 && (errno == ENOTDIR || errno == ELOOP))
		return unlinkat(at, name, 0) ? error_set(err, ASSAY_SYSTEM, errno, "cannot remove '%s'", name) : 0;
	if (root < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot open '%s' to remove it", name);
	struct removal removal = {.root = root, .mount_id = mount_of(root), .has_progress = true};
	bool is_empty = false;
	while (!is_empty && removal.has_progress) {
		removal.has_progress = false;
		is_empty = remove_pass(&removal);
	}
	if (unlinkat(at, name, AT_REMOVEDIR) && errno != ENOENT)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot remove '%s'", name);
	return 0;
}

static int chown_folder(int folder, uid_t uid, gid_t gid, int depth)
{
	auto_closedir DIR *dir = open_listing(folder);
	if (!dir || depth > COPY_DEPTH_MAX || fchown(folder, uid, gid))
		return -1;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (is_dots(entry->d_name))
			continue;
		if (fchownat(folder, entry->d_name, uid, gid, AT_SYMLINK_NOFOLLOW))
			return -1;
		auto_close int sub = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0 && chown_folder(sub, uid, gid, depth + 1))
			return -1;
	}
	return 0;
}

int tree_chown(int at, const char *name, uid_t uid, gid_t gid, struct assay_error *err)
{
	auto_close int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || chown_folder(folder, uid, gid, 0))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot give '%s' to user %u", name, uid);
	return 0;
}
