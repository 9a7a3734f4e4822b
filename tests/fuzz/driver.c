/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target without libFuzzer: every file of a corpus folder as it stands, then seeded mutations of it, the same at
 * every run and under every compiler.
 *
 *   fuzz_TARGET CORPUS_DIR [ROUNDS]
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS_MAX     256
#define SIZE_MAX_BYTES ((size_t)1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint8_t *bytes;
	size_t size;
};

static struct input inputs[INPUTS_MAX];
static size_t input_count;
static uint64_t state = 88172645463325252u;

/* xorshift64 (G. Marsaglia, 2003) */
static size_t pick(size_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (size_t)(state % below) : 0;
}

static void read_corpus(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		FILE *file = entries[i]->d_name[0] == '.' ? NULL : fopen(path, "rb");
		if (file && input_count < INPUTS_MAX) {
			uint8_t *bytes = malloc(SIZE_MAX_BYTES);
			inputs[input_count++] =
			    (struct input){bytes, bytes ? fread(bytes, 1, SIZE_MAX_BYTES, file) : 0};
		}
		if (file)
			fclose(file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* One to four changes: a flipped bit, a new byte, a cut, a run repeated, a piece of another input. */
static size_t mutate(uint8_t *bytes, size_t size)
{
	for (size_t changes = 1 + pick(4); changes > 0; changes--) {
		const struct input *other = &inputs[pick(input_count)];
		size_t at = pick(size), run = pick(32);
		switch (pick(5)) {
		case 0:
			if (size > 0)
				bytes[at] ^= (uint8_t)(1u << pick(8));
			break;
		case 1:
			if (size > 0)
				bytes[at] = (uint8_t)pick(256);
			break;
		case 2:
			size = at;
			break;
		case 3:
			if (at + run <= size && size + run <= SIZE_MAX_BYTES) {
				memmove(bytes + at + run, bytes + at, size - at);
				size += run;
			}
			break;
		default:
			run = run < other->size ? run : other->size;
			if (at + run <= SIZE_MAX_BYTES && run > 0) {
				memcpy(bytes + at, other->bytes + pick(other->size - run + 1), run);
				size = at + run > size ? at + run : size;
			}
		}
	}
	return size;
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 4000;
	if (argc > 1)
		read_corpus(argv[1]);
	if (input_count == 0) {
		fprintf(stderr, "usage: %s CORPUS_DIR [ROUNDS]; the corpus must not be empty\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < input_count; i++)
		LLVMFuzzerTestOneInput(inputs[i].bytes, inputs[i].size);
	for (size_t i = 0; i < rounds; i++) {
		const struct input *input = &inputs[pick(input_count)];
		uint8_t *copy = malloc(SIZE_MAX_BYTES);
		if (!copy)
			return 1;
		memcpy(copy, input->bytes, input->size);
		size_t size = mutate(copy, input->size);
		/* A block of just that size, so that a sanitizer sees a read behind its end. */
		uint8_t *exact = malloc(size ? size : 1);
		if (!exact)
			return 1;
		memcpy(exact, copy, size);
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
		free(copy);
	}
	printf("%zu inputs of the corpus and %zu mutations\n", input_count, rounds);
	return 0;
}
