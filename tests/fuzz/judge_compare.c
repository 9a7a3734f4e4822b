/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every mode finds an output equal to itself, what "exact" or "tokens" takes for equal "float" does too, and which of
 * two outputs is the expected one makes no difference to them.
 */
#include "base/str.h"
#include "judge/compare.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool equal(const char *mode, struct assay_str a, struct assay_str b)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_comparison how = {.size = sizeof(how), .mode = str_of(mode)};
	struct assay_str difference = {0};
	bool is_equal;
	if (compare_outputs(arena, &how, a, b, &is_equal, &difference, NULL) || is_equal != (difference.len == 0))
		abort();
	return is_equal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t middle = size / 2;
	struct assay_str whole = {text, size}, a = {text, middle}, b = {text + middle, size - middle};
	for (size_t i = 0; compare_modes[i]; i++)
		if (!equal(compare_modes[i], whole, whole))
			abort();
	if (equal("exact", a, b) && !equal("tokens", a, b))
		abort();
	if (equal("tokens", a, b) && !equal("float", a, b))
		abort();
	if (equal("exact", a, b) != equal("exact", b, a) || equal("tokens", a, b) != equal("tokens", b, a))
		abort();
	if (equal("exact", a, b) && !equal("sandboxfusion", a, b))
		abort();
	equal("sandboxfusion", a, b);
	return 0;
}
