/* SPDX-License-Identifier: Apache-2.0 */
/* Any text gives a tree whose places lie in it, or an error with a place. */
#include "base/arena.h"
#include "data/yaml.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct assay_node *node)
{
	if (node->line == 0 || node->column == 0)
		abort();
	for (size_t i = 0; i < node_count(node); i++)
		walk(node_at(node, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *root;
	struct assay_error err = {0};
	int status = yaml_parse(arena, (struct assay_str){(const char *)data, size}, "fuzz", &root, &err);
	if (status == 0)
		walk(root);
	else if (err.status != status || !err.message[0])
		abort();
	return 0;
}
