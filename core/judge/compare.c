/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/compare.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/str.h"
#include "base/utf8.h"
#include <ctype.h>
#include <math.h>

#define SHOWN_MAX         ((size_t)80)
#define DEFAULT_TOLERANCE 1e-9

const char *const compare_modes[] = {"exact", "tokens", "float", "sandboxfusion", NULL};

struct comparison {
	struct arena *arena;
	const struct assay_comparison *how;
	struct assay_str actual, expected;
	struct assay_str difference;
};

/* A part of an output for people: quoted, one line, control bytes escaped, not long. */
static struct assay_str show(struct arena *arena, struct assay_str text)
{
	auto_buffer struct buffer clean = {0}, shown = {0};
	size_t len = text.len ? utf8_cut(text.ptr, text.len, MIN(text.len, SHOWN_MAX)) : 0;
	utf8_append_clean(&clean, text.ptr, len);
	buffer_append_char(&shown, '\'');
	for (size_t i = 0; i < clean.len; i++) {
		if (clean.data[i] == '\n')
			buffer_append(&shown, "\\n", 2);
		else if (iscntrl((unsigned char)clean.data[i]))
			buffer_printf(&shown, "\\x%02x", (unsigned char)clean.data[i]);
		else
			buffer_append_char(&shown, clean.data[i]);
	}
	buffer_append(&shown, len < text.len ? "'..." : "'", len < text.len ? 4 : 1);
	return arena_copy(arena, buffer_str(&shown));
}

static bool differ(struct comparison *comparison, const char *what, size_t number, struct assay_str actual,
                   struct assay_str expected)
{
	struct arena *arena = comparison->arena;
	comparison->difference = arena_printf(arena, "%s %zu is %s, expected %s", what, number, show(arena, actual).ptr,
	                                      show(arena, expected).ptr);
	return false;
}

static bool equal_bytes(struct comparison *comparison)
{
	struct assay_str actual = comparison->actual, expected = comparison->expected;
	if (str_equal(actual, expected))
		return true;
	size_t at = 0;
	while (at < MIN(actual.len, expected.len) && actual.ptr[at] == expected.ptr[at])
		at++;
	return differ(comparison, "the output from byte", at + 1, str_slice(actual, at, actual.len),
	              str_slice(expected, at, expected.len));
}

static bool is_integer(struct assay_str text)
{
	size_t i = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
	size_t begin = i;
	while (i < text.len && isdigit((unsigned char)text.ptr[i]))
		i++;
	return i > begin && i == text.len;
}

/*
 * Decimal digits with at most one point, an optional sign and exponent. Wider than JSON's grammar, for programs print
 * "+1", ".5", "5." and "007".
 */
static bool parse_decimal(struct assay_str text, double *ret)
{
	char copy[256];
	size_t digits = 0, i = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
	bool has_point = false;
	if (text.len >= sizeof(copy))
		return false;
	for (; i < text.len; i++) {
		if (isdigit((unsigned char)text.ptr[i]))
			digits++;
		else if (text.ptr[i] == '.' && !has_point)
			has_point = true;
		else
			break;
	}
	if (digits == 0)
		return false;
	if (i < text.len && (text.ptr[i] == 'e' || text.ptr[i] == 'E')) {
		struct assay_str exponent = str_slice(text, i + 1, text.len);
		if (!is_integer(exponent))
			return false;
		i = text.len;
	}
	if (i != text.len)
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	*ret = strtod(copy, NULL); /* the program never leaves the C locale */
	return isfinite(*ret);
}

static bool tokens_match(const struct assay_comparison *how, struct assay_str actual, struct assay_str expected)
{
	double a, b;
	if (str_equal(actual, expected))
		return true;
	if (!str_is(how->mode, "float") || (is_integer(actual) && is_integer(expected)) || !parse_decimal(actual, &a) ||
	    !parse_decimal(expected, &b))
		return false;
	double absolute = how->absolute_tolerance, relative = how->relative_tolerance;
	if (absolute == 0 && relative == 0)
		absolute = relative = DEFAULT_TOLERANCE;
	return fabs(a - b) <= fmax(absolute, relative * fabs(b));
}

/* A byte order mark is no part of what was printed. */
static struct assay_str skip_mark(struct assay_str text)
{
	return str_starts_with(text, STR("\xEF\xBB\xBF")) ? str_slice(text, 3, text.len) : text;
}

static bool equal_tokens(struct comparison *comparison)
{
	struct assay_str actual_rest = skip_mark(comparison->actual), expected_rest = skip_mark(comparison->expected);
	for (size_t number = 1;; number++) {
		struct assay_str actual, expected;
		bool has_actual = str_next_word(&actual_rest, &actual);
		bool has_expected = str_next_word(&expected_rest, &expected);
		if (!has_actual && !has_expected)
			return true;
		if (has_actual != has_expected) {
			comparison->difference =
			    has_actual ? arena_printf(comparison->arena, "the output goes on after token %zu, with %s",
			                              number - 1, show(comparison->arena, actual).ptr)
			               : arena_printf(comparison->arena, "the output ends after token %zu, expected %s",
			                              number - 1, show(comparison->arena, expected).ptr);
			return false;
		}
		if (!tokens_match(comparison->how, actual, expected))
			return differ(comparison, "token", number, actual, expected);
	}
}

/* What Python's float() takes for a number, as that service relies on it: single underscores between digits, too. */
static bool parse_python_float(struct assay_str text, double *ret)
{
	char copy[256];
	size_t len = 0;
	if (text.len >= sizeof(copy))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		bool between = i > 0 && i + 1 < text.len && isdigit((unsigned char)text.ptr[i - 1]) &&
		               isdigit((unsigned char)text.ptr[i + 1]);
		if (text.ptr[i] == '_' && !between)
			return false;
		if (text.ptr[i] != '_')
			copy[len++] = text.ptr[i];
	}
	return parse_decimal((struct assay_str){copy, len}, ret);
}

static bool lines_match(struct assay_str actual, struct assay_str expected)
{
	double a, b;
	actual = str_trim(actual);
	expected = str_trim(expected);
	if (actual.len == expected.len && (actual.len == 0 || strncasecmp(actual.ptr, expected.ptr, actual.len) == 0))
		return true;
	return parse_python_float(actual, &a) && parse_python_float(expected, &b) &&
	       fabs(a - b) / fmax(fabs(b), 1e-10) < 1e-5;
}

static bool equal_lines(struct comparison *comparison)
{
	struct assay_str actual_rest = str_trim(comparison->actual), expected_rest = str_trim(comparison->expected);
	for (size_t number = 1;; number++) {
		struct assay_str actual = {0}, expected = {0};
		bool has_actual = str_cut(&actual_rest, '\n', &actual);
		bool has_expected = str_cut(&expected_rest, '\n', &expected);
		if (!has_actual && !has_expected)
			return true;
		if (has_actual != has_expected || !lines_match(actual, expected))
			return differ(comparison, "line", number, actual, expected);
	}
}

int compare_outputs(struct arena *arena, const struct assay_comparison *how, struct assay_str actual,
                    struct assay_str expected, bool *ret_equal, struct assay_str *ret_difference,
                    struct assay_error *err)
{
	struct comparison comparison = {.arena = arena, .how = how, .actual = actual, .expected = expected};
	if (str_is(how->mode, "exact"))
		*ret_equal = equal_bytes(&comparison);
	else if (how->mode.len == 0 || str_is(how->mode, "tokens") || str_is(how->mode, "float"))
		*ret_equal = equal_tokens(&comparison);
	else if (str_is(how->mode, "sandboxfusion"))
		*ret_equal = equal_lines(&comparison);
	else
		return error_set(err, ASSAY_INVALID, 0, "there is no comparison mode '%.*s'", STR_ARG(how->mode));
	if (!*ret_equal)
		*ret_difference = comparison.difference;
	return 0;
}
