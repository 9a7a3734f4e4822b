/* SPDX-License-Identifier: Apache-2.0 */
/* What is read prints as text that reads back the same. */
#include "base/quantity.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_str text = {(const char *)data, size};
	auto_buffer struct buffer out = {0};
	int64_t ns, again_ns, integer;
	uint64_t bytes, again_bytes;
	double real;
	parse_int64(text, &integer);
	parse_real(text, &real);
	if (parse_duration(text, &ns)) {
		format_duration(&out, ns);
		if (ns < 0 || !parse_duration(buffer_str(&out), &again_ns) || again_ns != ns)
			abort();
	}
	buffer_clear(&out);
	if (parse_size(text, &bytes)) {
		format_size(&out, bytes);
		if (!parse_size(buffer_str(&out), &again_bytes) || again_bytes != bytes)
			abort();
	}
	return 0;
}
