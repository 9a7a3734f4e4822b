/* SPDX-License-Identifier: Apache-2.0 */
/* Text without "$" stays as it is; whatever comes out lies within what can. */
#include "base/buffer.h"
#include "base/str.h"
#include "data/subst.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct subst_pair pairs[] = {{STR("a"), STR("value")}, {STR("b"), STR("")}};
	struct assay_str text = {(const char *)data, size};
	auto_buffer struct buffer out = {0};
	int status = subst_expand(&out, text, pairs, COUNT_OF(pairs), NULL);
	bool has_dollar = size > 0 && memchr(data, '$', size);
	if (!has_dollar && (status || !str_equal(buffer_str(&out), text)))
		abort();
	if (out.len > size * 2)
		abort();
	return 0;
}
