/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory with one lifetime: everything allocated from an arena dies with it. One thread at a time.
 * Running out of memory ends the process with a message: there is no caller who could go on.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/defs.h"
#include <stdarg.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena); /* accepts NULL */
static inline void cleanup_arena(struct arena **arena)
{
	arena_free(*arena);
}
#define auto_arena __attribute__((cleanup(cleanup_arena)))

/* Zeroed, aligned for any type; never NULL, also for size 0. */
void *arena_alloc(struct arena *arena, size_t size);
/* Zeroed array; the multiplication is checked. */
void *arena_array(struct arena *arena, size_t count, size_t item_size);
/* A copy, NUL-terminated (the NUL is not counted). */
struct assay_str arena_copy(struct arena *arena, struct assay_str bytes);
struct assay_str arena_printf(struct arena *arena, const char *format, ...) ASSAY_PRINTF(2, 3);
struct assay_str arena_vprintf(struct arena *arena, const char *format, va_list args) ASSAY_PRINTF(2, 0);

/* malloc and friends under the same rule: never NULL. */
void *xmalloc(size_t size); /* zeroed */
void *xrealloc(void *pointer, size_t size);
char *xstrdup(const char *text);

#endif
