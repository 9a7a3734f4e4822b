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
static bool is_decimal(struct assay_str text)
{
	size_t digits = 0, i = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
	bool has_point = false;
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
	if (i < text.len && (text.ptr[i] == 'e' || text.ptr[i] == 'E'))
		return is_integer(str_slice(text, i + 1, text.len));
	return i == text.len;
}

/*
 * strtod() takes more than the grammar and wants a NUL at the end: the text is checked first, then copied. Most numbers
 * are short and cost no allocation; long ones, such as a fraction of a thousand digits, are numbers as well.
 */
static bool parse_decimal(struct arena *arena, struct assay_str text, double *ret)
{
	char small[64];
	if (!is_decimal(text))
		return false;
	const char *digits = small;
	if (text.len < sizeof(small)) {
		memcpy(small, text.ptr, text.len);
		small[text.len] = 0;
	} else {
		digits = arena_copy(arena, text).ptr;
	}
	*ret = strtod(digits, NULL); /* the program never leaves the C locale */
	return isfinite(*ret);
}

static bool tokens_match(struct comparison *comparison, struct assay_str actual, struct assay_str expected)
{
	const struct assay_comparison *how = comparison->how;
	double a, b;
	if (str_equal(actual, expected))
		return true;
	if (!str_is(how->mode, "float") || (is_integer(actual) && is_integer(expected)) ||
	    !parse_decimal(comparison->arena, actual, &a) || !parse_decimal(comparison->arena, expected, &b))
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
		if (!tokens_match(comparison, actual, expected))
			return differ(comparison, "token", number, actual, expected);
	}
}

/*
 * The service is written in Python and relies on its str.strip(), str.lower() and float(); what follows does the same
 * for ASCII. "inf" and "nan" need no parsing: float() takes them, but no difference with one is below any bound.
 */

/* Python counts the four separators 0x1C to 0x1F as blanks, C does not. */
static bool is_python_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
}

static struct assay_str python_strip(struct assay_str text)
{
	while (text.len > 0 && is_python_blank(text.ptr[text.len - 1]))
		text.len--;
	size_t begin = 0;
	while (begin < text.len && is_python_blank(text.ptr[begin]))
		begin++;
	return str_slice(text, begin, text.len);
}

/* Not strncasecmp(), for which two texts are equal when they are so up to a NUL. */
static bool equal_without_case(struct assay_str a, struct assay_str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (tolower((unsigned char)a.ptr[i]) != tolower((unsigned char)b.ptr[i]))
			return false;
	return true;
}

/* A number with single underscores between digits, which float() passes over. */
static bool parse_python_float(struct arena *arena, struct assay_str text, double *ret)
{
	if (text.len == 0 || !memchr(text.ptr, '_', text.len))
		return parse_decimal(arena, text, ret);
	char *copy = arena_alloc(arena, text.len);
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		bool is_between = i > 0 && i + 1 < text.len && isdigit((unsigned char)text.ptr[i - 1]) &&
		                  isdigit((unsigned char)text.ptr[i + 1]);
		if (text.ptr[i] == '_' && !is_between)
			return false;
		if (text.ptr[i] != '_')
			copy[len++] = text.ptr[i];
	}
	return parse_decimal(arena, (struct assay_str){copy, len}, ret);
}

static bool lines_match(struct arena *arena, struct assay_str actual, struct assay_str expected)
{
	double a, b;
	actual = python_strip(actual);
	expected = python_strip(expected);
	return equal_without_case(actual, expected) ||
	       (parse_python_float(arena, actual, &a) && parse_python_float(arena, expected, &b) &&
	        fabs(a - b) / fmax(fabs(b), 1e-10) < 1e-5);
}

static bool equal_lines(struct comparison *comparison)
{
	struct assay_str actual_rest = python_strip(comparison->actual);
	struct assay_str expected_rest = python_strip(comparison->expected);
	for (size_t number = 1;; number++) {
		struct assay_str actual = {0}, expected = {0};
		bool has_actual = str_cut(&actual_rest, '\n', &actual);
		bool has_expected = str_cut(&expected_rest, '\n', &expected);
		if (!has_actual && !has_expected)
			return true;
		if (has_actual != has_expected || !lines_match(comparison->arena, actual, expected))
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
