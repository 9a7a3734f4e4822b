/* SPDX-License-Identifier: Apache-2.0 */
#include "data/subst.h"
#include "base/error.h"
#include "base/str.h"

static const struct subst_pair *find_pair(struct assay_str name, const struct subst_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(pairs[i].name, name))
			return &pairs[i];
	return NULL;
}

int subst_expand(struct buffer *out, struct assay_str text, const struct subst_pair *pairs, size_t count,
                 struct assay_error *err)
{
	while (text.len > 0) {
		const char *dollar = memchr(text.ptr, '$', text.len);
		size_t before = dollar ? (size_t)(dollar - text.ptr) : text.len;
		buffer_append(out, text.ptr, before);
		text = str_slice(text, before, text.len);
		if (text.len == 0)
			break;
		if (str_starts_with(text, STR("$${"))) {
			buffer_append(out, "${", 2);
			text = str_slice(text, 3, text.len);
			continue;
		}
		if (!str_starts_with(text, STR("${"))) {
			buffer_append_char(out, '$');
			text = str_slice(text, 1, text.len);
			continue;
		}
		ptrdiff_t end = str_find(text, STR("}"));
		if (end < 0)
			return error_set(err, ASSAY_INVALID, 0,
			                 "'${' without its '}' (write '$${' for a literal '${')");
		struct assay_str name = str_slice(text, 2, (size_t)end);
		const struct subst_pair *pair = find_pair(name, pairs, count);
		if (!pair)
			return error_set(err, ASSAY_INVALID, 0, "nothing is named '${%.*s}'",
			                 STR_ARG(str_slice(name, 0, 60)));
		buffer_append_str(out, pair->value);
		text = str_slice(text, (size_t)end + 1, text.len);
	}
	return 0;
}
