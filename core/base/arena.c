/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include <stdint.h>
#include <stdio.h>

#define CHUNK_BYTES ((size_t)8 << 10)
#define ALIGNMENT   _Alignof(max_align_t)

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

struct arena {
	struct chunk *current; /* the one allocated from; others follow */
};

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "assay: out of memory (%zu bytes)\n", size);
	abort();
}

void *xmalloc(size_t size)
{
	void *pointer = calloc(1, size ? size : 1);
	if (!pointer)
		out_of_memory(size);
	return pointer;
}

void *xrealloc(void *pointer, size_t size)
{
	pointer = realloc(pointer, size ? size : 1);
	if (!pointer)
		out_of_memory(size);
	return pointer;
}

char *xstrdup(const char *text)
{
	size_t size = strlen(text) + 1;
	return memcpy(xmalloc(size), text, size);
}

struct arena *arena_new(void)
{
	return xmalloc(sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->current, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(arena);
}

static struct chunk *chunk_new(size_t size)
{
	if (size > SIZE_MAX - sizeof(struct chunk))
		out_of_memory(size);
	struct chunk *chunk = xmalloc(sizeof(*chunk) + size);
	chunk->size = size;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT)
		out_of_memory(size);
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	struct chunk *current = arena->current;
	if (current && current->size - current->used >= size) {
		void *pointer = current->bytes + current->used;
		current->used += size;
		return pointer;
	}
	/* A large one gets a chunk of its own, behind the current one, whose room stays in use. */
	struct chunk *chunk = chunk_new(MAX(size, CHUNK_BYTES));
	chunk->used = size;
	if (current && size > CHUNK_BYTES / 4) {
		chunk->next = current->next;
		current->next = chunk;
	} else {
		chunk->next = current;
		arena->current = chunk;
	}
	return chunk->bytes;
}

void *arena_array(struct arena *arena, size_t count, size_t item_size)
{
	size_t size;
	if (__builtin_mul_overflow(count, item_size, &size))
		out_of_memory(SIZE_MAX);
	return arena_alloc(arena, size);
}

struct assay_str arena_copy(struct arena *arena, struct assay_str bytes)
{
	char *copy = arena_alloc(arena, bytes.len + 1);
	if (bytes.len)
		memcpy(copy, bytes.ptr, bytes.len);
	return (struct assay_str){copy, bytes.len};
}

struct assay_str arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = arena_alloc(arena, (size_t)MAX(len, 0) + 1);
	vsnprintf(text, (size_t)MAX(len, 0) + 1, format, args);
	return (struct assay_str){text, (size_t)MAX(len, 0)};
}

struct assay_str arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct assay_str text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}
