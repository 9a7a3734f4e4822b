/* SPDX-License-Identifier: Apache-2.0 */
/* Any completion gives code no longer than itself (and one line end), and a type that agrees with it. */
#include "base/str.h"
#include "judge/extract.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const languages[] = {"", "python", "cpp", "awk"};
	for (size_t i = 0; i < COUNT_OF(languages); i++) {
		auto_arena struct arena *arena = arena_new();
		struct assay_str text = {(const char *)data, size};
		struct assay_extraction found = extract_code(arena, text, str_of(languages[i]));
		bool is_empty = str_is(str_of(found.type), "empty");
		if (is_empty != (found.code.len == 0) || found.code.len > size + 1)
			abort();
	}
	return 0;
}
