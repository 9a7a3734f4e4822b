/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about text that plugins ask again and again. Nothing here allocates or needs the host. */
#ifndef ASSAY_TEXT_H
#define ASSAY_TEXT_H

#include <assay/plugin.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A view of a C string. */
static inline struct assay_str assay_text(const char *text)
{
	struct assay_str view = {text, strlen(text)};
	return view;
}

static inline int assay_text_is(struct assay_str a, const char *b)
{
	return a.len == strlen(b) && memcmp(a.ptr ? a.ptr : "", b, a.len) == 0;
}

static inline int assay_text_starts_with(struct assay_str text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text.len >= len && memcmp(text.ptr ? text.ptr : "", prefix, len) == 0;
}

/* Nothing but ASCII white space. */
static inline int assay_text_is_blank(struct assay_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] == 0 || !strchr(" \t\r\n\f\v", text.ptr[i]))
			return 0;
	return 1;
}

/* The last line that is not blank, at most 300 bytes of it: what programs say when they fail. */
static inline struct assay_str assay_text_last_line(struct assay_str text)
{
	while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]))
		text.len--;
	size_t begin = text.len;
	while (begin > 0 && text.ptr[begin - 1] != '\n')
		begin--;
	struct assay_str line = {text.ptr ? text.ptr + begin : "", text.len - begin};
	line.len = line.len > 300 ? 300 : line.len;
	return line;
}

#ifdef __cplusplus
}
#endif

#endif
