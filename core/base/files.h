/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files beneath a directory descriptor. Trees that a hostile program has written to are only ever touched through
 * these functions: names are resolved with openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS), so
 * neither "..", nor a symbolic link planted or swapped meanwhile, leads out (openat2(2)).
 */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include "base/buffer.h"
#include <sys/types.h>

/* True for a relative path without empty, "." or ".." parts, no NUL, each part at most NAME_MAX, all below PATH_MAX. */
bool path_is_plain(struct assay_str path);

/* A directory by any path, trusted (configuration, not guest data). O_DIRECTORY | O_CLOEXEC. Returns the descriptor. */
int dir_open(const char *path, struct assay_error *err);
/* Makes `name` (one component) in `at` with the mode, and opens it. */
int dir_make(int at, const char *name, mode_t mode, struct assay_error *err);
/* Opens an existing directory beneath `at`. */
int dir_open_beneath(int at, struct assay_str path, struct assay_error *err);

/* Writes a new file (O_EXCL) beneath `at`, making parent folders with mode 0755. The path must be plain. */
int file_write_beneath(int at, struct assay_str path, struct assay_str content, mode_t mode, struct assay_error *err);
/*
 * Appends at most `limit` bytes of a regular file beneath `at` to *out; *ret_size (may be NULL) is the file's true
 * size. Anything but a regular file is an error, without blocking on a FIFO or touching a device.
 */
int file_read_beneath(int at, struct assay_str path, size_t limit, struct buffer *out, uint64_t *ret_size,
                      struct assay_error *err);
/* Writes all of it, however many calls that takes; 0, or -1 with errno. */
int file_write_all(int fd, struct assay_str content);
/* Reads a whole trusted file of at most `limit` bytes; a longer one is an error. */
int file_read(const char *path, size_t limit, struct buffer *out, struct assay_error *err);

/* Copies the regular files, folders and symbolic links of one tree into an empty one, with modes. */
int tree_copy(int from, int to, struct assay_error *err);
/* Sum of the sizes of regular files. */
int tree_size(int dir, uint64_t *ret_bytes, struct assay_error *err);
/*
 * Removes `name` in `at` with all below it, whatever its depth (two descriptors at a time), names and modes; never
 * follows a link and never crosses into another mount. A name that is not there is no error.
 */
int tree_remove(int at, const char *name, struct assay_error *err);
/* Gives the tree to other ids, without following links. */
int tree_chown(int at, const char *name, uid_t uid, gid_t gid, struct assay_error *err);

#endif
