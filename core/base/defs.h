/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes, automatic cleanup and string views: what every other header builds on. */
#ifndef BASE_DEFS_H
#define BASE_DEFS_H

#include <assay/plugin.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define MAX(a, b)       ((a) > (b) ? (a) : (b))

/* Destructors for __attribute__((cleanup)); each keeps errno. */
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;
		close(*fd);
		errno = saved;
	}
}

static inline void cleanup_free(void *pointer)
{
	int saved = errno;
	free(*(void **)pointer);
	errno = saved;
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir) {
		int saved = errno;
		closedir(*dir);
		errno = saved;
	}
}

#define auto_close    __attribute__((cleanup(cleanup_close)))
#define auto_free     __attribute__((cleanup(cleanup_free)))
#define auto_closedir __attribute__((cleanup(cleanup_closedir)))

/* Moves a descriptor out of an auto_close variable. */
static inline int steal_fd(int *fd)
{
	int moved = *fd;
	*fd = -1;
	return moved;
}

/* Moves a pointer out of an auto_* variable. */
#define steal_ptr(variable)                                                                                            \
	({                                                                                                             \
		__typeof__(variable) moved_ = (variable);                                                              \
		(variable) = NULL;                                                                                     \
		moved_;                                                                                                \
	})

#endif
