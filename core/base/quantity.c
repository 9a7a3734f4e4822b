/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "base/str.h"
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>

struct unit {
	const char *name;
	uint64_t size;
};

/* Largest first: the order format_* tries them in. */
static const struct unit durations[] = {{"h", UINT64_C(3600000000000)}, {"m", UINT64_C(60000000000)},
                                        {"s", UINT64_C(1000000000)},    {"ms", UINT64_C(1000000)},
                                        {"us", UINT64_C(1000)},         {"ns", UINT64_C(1)}};
static const struct unit binary_sizes[] = {{"TiB", UINT64_C(1) << 40},
                                           {"GiB", UINT64_C(1) << 30},
                                           {"MiB", UINT64_C(1) << 20},
                                           {"KiB", UINT64_C(1) << 10},
                                           {"B", UINT64_C(1)}};
static const struct unit decimal_sizes[] = {{"TB", UINT64_C(1000000000000)},
                                            {"GB", UINT64_C(1000000000)},
                                            {"MB", UINT64_C(1000000)},
                                            {"KB", UINT64_C(1000)},
                                            {"kB", UINT64_C(1000)}};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t count_digits(struct assay_str text, size_t from)
{
	size_t end = from;
	while (end < text.len && is_digit(text.ptr[end]))
		end++;
	return end - from;
}

bool parse_int64(struct assay_str text, int64_t *ret)
{
	bool is_negative = text.len > 0 && text.ptr[0] == '-';
	size_t begin = is_negative, digits = count_digits(text, begin);
	if (digits == 0 || begin + digits != text.len || (digits > 1 && text.ptr[begin] == '0'))
		return false;
	int64_t value = 0;
	for (size_t i = begin; i < text.len; i++) {
		int digit = text.ptr[i] - '0';
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
			return false;
	}
	*ret = value;
	return true;
}

/* RFC 8259, section 6. */
static bool is_json_number(struct assay_str text)
{
	size_t i = text.len > 0 && text.ptr[0] == '-', digits = count_digits(text, i);
	if (digits == 0 || (digits > 1 && text.ptr[i] == '0'))
		return false;
	i += digits;
	if (i < text.len && text.ptr[i] == '.') {
		digits = count_digits(text, i + 1);
		if (digits == 0)
			return false;
		i += 1 + digits;
	}
	if (i < text.len && (text.ptr[i] == 'e' || text.ptr[i] == 'E')) {
		i++;
		if (i < text.len && (text.ptr[i] == '+' || text.ptr[i] == '-'))
			i++;
		digits = count_digits(text, i);
		if (digits == 0)
			return false;
		i += digits;
	}
	return i == text.len;
}

static locale_t c_locale(void)
{
	static locale_t locale;
	locale_t found = __atomic_load_n(&locale, __ATOMIC_ACQUIRE);
	if (!found) {
		found = newlocale(LC_ALL_MASK, "C", NULL);
		__atomic_store_n(&locale, found, __ATOMIC_RELEASE);
	}
	return found;
}

bool parse_real(struct assay_str text, double *ret)
{
	char copy[512];
	if (text.len >= sizeof(copy) || !is_json_number(text))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	double value = strtod_l(copy, NULL, c_locale());
	if (!isfinite(value))
		return false;
	*ret = value;
	return true;
}

static const struct unit *find_unit(struct assay_str name, const struct unit *units, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_is(name, units[i].name))
			return &units[i];
	return NULL;
}

/* "1.5" times a unit, exactly: digits behind the point are scaled as integers. */
static bool scale(struct assay_str number, uint64_t unit, uint64_t *ret)
{
	size_t whole = count_digits(number, 0), fraction = 0;
	if (whole == 0)
		return false;
	if (whole < number.len) {
		fraction = count_digits(number, whole + 1);
		if (number.ptr[whole] != '.' || fraction == 0 || whole + 1 + fraction != number.len || fraction > 18)
			return false;
	}
	uint64_t value = 0;
	for (size_t i = 0; i < whole; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(number.ptr[i] - '0'), &value))
			return false;
	if (__builtin_mul_overflow(value, unit, &value))
		return false;
	unsigned __int128 part = 0, power = 1;
	for (size_t i = 0; i < fraction; i++, power *= 10)
		part = part * 10 + (unsigned)(number.ptr[whole + 1 + i] - '0');
	part *= unit;
	if (part % power) /* less than one nanosecond or byte: not a value we could keep */
		return false;
	return !__builtin_add_overflow(value, (uint64_t)(part / power), ret);
}

static struct assay_str split_number(struct assay_str text, struct assay_str *ret_unit)
{
	size_t end = 0;
	while (end < text.len && (is_digit(text.ptr[end]) || text.ptr[end] == '.'))
		end++;
	*ret_unit = str_slice(text, end, text.len);
	return str_slice(text, 0, end);
}

bool parse_duration(struct assay_str text, int64_t *ret_ns)
{
	struct assay_str unit_name, number = split_number(text, &unit_name);
	const struct unit *unit = find_unit(unit_name, durations, COUNT_OF(durations));
	uint64_t value;
	if (!unit || !scale(number, unit->size, &value) || value > INT64_MAX)
		return false;
	*ret_ns = (int64_t)value;
	return true;
}

bool parse_size(struct assay_str text, uint64_t *ret_bytes)
{
	struct assay_str unit_name, number = split_number(text, &unit_name);
	const struct unit *unit = find_unit(unit_name, binary_sizes, COUNT_OF(binary_sizes));
	if (!unit)
		unit = find_unit(unit_name, decimal_sizes, COUNT_OF(decimal_sizes));
	return unit && scale(number, unit->size, ret_bytes);
}

static void format_units(struct buffer *out, uint64_t value, const struct unit *units, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && (value == 0 || value % units[i].size))
			continue;
		buffer_printf(out, "%" PRIu64 "%s", value / units[i].size, units[i].name);
		return;
	}
}

void format_duration(struct buffer *out, int64_t ns)
{
	if (ns == 0)
		buffer_printf(out, "0s");
	else
		format_units(out, (uint64_t)MAX(ns, 0), durations, COUNT_OF(durations));
}

void format_size(struct buffer *out, uint64_t bytes)
{
	format_units(out, bytes, binary_sizes, COUNT_OF(binary_sizes));
}
