/* SPDX-License-Identifier: Apache-2.0 */
/* What is cleaned is valid, valid text stays as it is, and a cut never makes valid text invalid. */
#include "base/utf8.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	auto_buffer struct buffer out = {0};
	bool is_valid = utf8_valid_prefix(text, size) == size;
	bool is_replaced = utf8_append_clean(&out, text, size);
	if (is_valid == is_replaced || utf8_valid_prefix(out.data, out.len) != out.len)
		abort();
	if (is_valid && (out.len != size || (size && memcmp(out.data, text, size) != 0)))
		abort();
	for (size_t limit = 0; limit <= out.len; limit++) {
		size_t cut = utf8_cut(out.data, out.len, limit);
		if (cut > limit || limit - cut > 3 || utf8_valid_prefix(out.data, cut) != cut)
			abort();
	}
	return 0;
}
