/* SPDX-License-Identifier: Apache-2.0 */
/* What is accepted prints as JSON that is accepted again and prints the same. */
#include "base/arena.h"
#include "data/json.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *root, *again;
	struct assay_error err = {0};
	if (json_parse(arena, (struct assay_str){(const char *)data, size}, "fuzz", 1, &root, &err)) {
		if (!err.status || !err.message[0])
			abort();
		return 0;
	}
	auto_json struct json_object *object = json_of_node(root);
	auto_buffer struct buffer first = {0}, second = {0};
	json_print(object, &first);
	if (json_parse(arena, buffer_str(&first), "fuzz", 1, &again, &err))
		abort();
	auto_json struct json_object *copy = json_of_node(again);
	json_print(copy, &second);
	if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
	return 0;
}
