/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/host.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "data/json.h"
#include "data/subst.h"
#include "judge/compare.h"
#include "judge/extract.h"
#include <stdarg.h>

static void host_log(int level, const char *format, ...) ASSAY_PRINTF(2, 3);

static void host_log(int level, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	log_line_v(level < LOG_ERROR ? LOG_ERROR : level > LOG_DEBUG ? LOG_DEBUG : (enum log_level)level, format, args);
	va_end(args);
}

static int host_fail_at(struct assay_error *err, const struct assay_node *where, const char *format, ...)
    ASSAY_PRINTF(3, 4);

static int host_fail_at(struct assay_error *err, const struct assay_node *where, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int status = node_error_v(err, where, format, args);
	va_end(args);
	return status;
}

static int host_node_bool(const struct assay_node *node, int *ret, struct assay_error *err)
{
	bool value;
	int status = node_bool(node, &value, err);
	if (status == 0)
		*ret = value;
	return status;
}

static int host_node_parse(struct assay_scope *scope, struct assay_str json, const struct assay_node **ret,
                           struct assay_error *err)
{
	return json_parse(arena_of(scope), json, "JSON in a column", 1, ret, err);
}

static void *host_alloc(struct assay_scope *scope, size_t bytes)
{
	return arena_alloc(arena_of(scope), bytes);
}

static struct assay_str host_format(struct assay_scope *scope, const char *format, ...) ASSAY_PRINTF(2, 3);

static struct assay_str host_format(struct assay_scope *scope, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct assay_str text = arena_vprintf(arena_of(scope), format, args);
	va_end(args);
	return text;
}

static struct assay_str host_nonce(struct assay_scope *scope, size_t bytes)
{
	void *random = arena_alloc(arena_of(scope), bytes);
	auto_buffer struct buffer text = {0};
	random_bytes(random, bytes);
	hex_append(&text, random, bytes);
	return arena_copy(arena_of(scope), buffer_str(&text));
}

static int host_substitute(struct assay_scope *scope, struct assay_str text, const struct assay_str (*pairs)[2],
                           size_t count, struct assay_str *ret, struct assay_error *err)
{
	struct subst_pair *list = arena_array(arena_of(scope), count, sizeof(*list));
	auto_buffer struct buffer out = {0};
	for (size_t i = 0; i < count; i++)
		list[i] = (struct subst_pair){pairs[i][0], pairs[i][1]};
	int status = subst_expand(&out, text, list, count, err);
	if (status == 0)
		*ret = arena_copy(arena_of(scope), buffer_str(&out));
	return status;
}

static int host_extract(struct assay_scope *scope, struct assay_str completion, struct assay_str language,
                        struct assay_extraction *ret, struct assay_error *err)
{
	(void)err;
	struct assay_extraction found = extract_code(arena_of(scope), completion, language);
	found.size = ret->size; /* the caller's, who may know fewer members */
	memcpy(ret, &found, MIN((size_t)ret->size, sizeof(found)));
	return 0;
}

static int host_compare(struct assay_scope *scope, const struct assay_comparison *how, struct assay_str actual,
                        struct assay_str expected, int *ret_equal, struct assay_str *ret_difference,
                        struct assay_error *err)
{
	bool is_equal;
	int status = compare_outputs(arena_of(scope), how, actual, expected, &is_equal, ret_difference, err);
	if (status == 0)
		*ret_equal = is_equal;
	return status;
}

const struct assay_host host_services = {
    .size = sizeof(struct assay_host),
    .abi_major = ASSAY_ABI_MAJOR,
    .abi_minor = ASSAY_ABI_MINOR,
    .log = host_log,
    .fail = error_set,
    .fail_at = host_fail_at,
    .node_kind = node_kind,
    .node_count = node_count,
    .node_get = node_get,
    .node_at = node_at,
    .node_key = node_key,
    .node_str = node_str,
    .node_int = node_int,
    .node_real = node_real,
    .node_bool = host_node_bool,
    .node_parse = host_node_parse,
    .alloc = host_alloc,
    .format = host_format,
    .nonce = host_nonce,
    .substitute = host_substitute,
    .extract = host_extract,
    .compare = host_compare,
};
