// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

int parse_hex_digit(char c)
{
	if (parse_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses the digits at *cursor. The cursor moves behind them also when the number is too large
 * (-ERANGE), so that the caller can tell "too large" from "not a number at all". */
static int take_digits(const char **cursor, uint64_t *ret)
{
	const char *p = *cursor;
	uint64_t value = 0;
	bool overflow = false;

	if (!parse_is_digit(*p))
		return -EINVAL;
	for (; parse_is_digit(*p); p++) {
		overflow = overflow || __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
	}
	*cursor = p;
	if (overflow)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t value;
	int r;

	r = take_digits(&text, &value);
	if (r == -EINVAL || *text)
		return -EINVAL;
	if (r < 0)
		return r;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_uint(const char *text, unsigned min, unsigned max, unsigned *ret)
{
	uint64_t value;
	int r;

	r = parse_u64(text, min, max, &value);
	if (r < 0)
		return r;
	*ret = (unsigned)value;
	return 0;
}

int parse_int(const char *text, int min, int max, int *ret)
{
	bool negative = *text == '-';
	uint64_t magnitude;
	int64_t value;
	int r;

	r = parse_u64(text + negative, 0, (uint64_t)INT_MAX + 1, &magnitude);
	if (r < 0)
		return r;
	value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	if (value < min || value > max)
		return -ERANGE;
	*ret = (int)value;
	return 0;
}

int parse_hex_u64(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	bool overflow = false;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		int digit = parse_hex_digit(*text);

		if (digit < 0)
			return -EINVAL;
		overflow = overflow || value > UINT64_MAX / 16;
		value = value * 16 + (uint64_t)digit;
	}
	if (overflow || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

/* Parses a decimal number without exponent at *cursor, which moves as in take_digits(). Digits of
 * the fraction after the 18th are ignored. strtod() is not used because it follows the locale and
 * accepts "inf", "nan" and hexadecimal. */
static int take_decimal(const char **cursor, double *ret)
{
	const char *p = *cursor;
	bool negative = *p == '-';
	uint64_t whole = 0, fraction = 0;
	double scale = 1, value;
	int r;

	if (negative)
		p++;
	r = take_digits(&p, &whole);
	if (r == -EINVAL)
		return r;
	if (*p == '.') {
		int digits = 0;

		p++;
		if (!parse_is_digit(*p))
			return -EINVAL;
		for (; parse_is_digit(*p); p++) {
			if (digits++ >= 18)
				continue;
			fraction = fraction * 10 + (uint64_t)(*p - '0');
			scale *= 10;
		}
	}
	*cursor = p;
	if (r < 0)
		return r;
	value = (double)whole + (double)fraction / scale;
	/* No negative zero: it would be printed as "-0". */
	*ret = negative && value > 0 ? -value : value;
	return 0;
}

int parse_double(const char *text, double min, double max, double *ret)
{
	double value;
	int r;

	r = take_decimal(&text, &value);
	if (r == -EINVAL || *text)
		return -EINVAL;
	if (r < 0)
		return r;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

/*
 * Computes digits * 10^exponent with one rounding to long double, where that is enough to round
 * correctly to double: the true value is less than one unit of the long double away from the
 * computed one, so when both ends of this interval round to the same double, the true value does
 * too. Returns false where the ends differ, and always where a long double is no longer than a
 * double.
 */
static bool scale_digits(uint64_t digits, int exponent, double *ret)
{
	/* 10^27 = 5^27 * 2^27, and 5^27 is less than 2^64. */
	static const long double powers[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L,
		1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
		1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L };
	long double value, low, high;

	if (exponent <= -(int)ARRAY_SIZE(powers) || exponent >= (int)ARRAY_SIZE(powers))
		return false;
	value = exponent < 0 ? (long double)digits / powers[-exponent]
			     : (long double)digits * powers[exponent];
	low = value - value * LDBL_EPSILON;
	high = value + value * LDBL_EPSILON;
	*ret = (double)value;
	return (double)low == (double)high;
}

int parse_real(const char *text, double *ret)
{
	const char *p = text;
	bool negative = *p == '-', minus;
	unsigned exponent = 0;
	uint64_t digits = 0;
	int n_digits = 0, scale = 0;
	double value;

	p += negative;
	if (!parse_is_digit(*p) || (*p == '0' && parse_is_digit(p[1])))
		return -EINVAL;
	for (bool fraction = false;; p++) {
		if (*p == '.' && !fraction && parse_is_digit(p[1])) {
			fraction = true;
			continue;
		}
		if (!parse_is_digit(*p))
			break;
		/* Only 19 digits fit; further digits are counted. */
		if (n_digits < 19)
			digits = digits * 10 + (uint64_t)(*p - '0');
		if (digits > 0 && n_digits < INT_MAX)
			n_digits++;
		if (fraction && scale > INT_MIN)
			scale--;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		minus = *p == '-';
		if (*p == '-' || *p == '+')
			p++;
		if (!parse_is_digit(*p))
			return -EINVAL;
		for (; parse_is_digit(*p); p++)
			exponent = MIN(exponent * 10 + (unsigned)(*p - '0'), 100000u);
		scale = MAX(scale, -1000000) + (minus ? -(int)exponent : (int)exponent);
	}
	if (*p)
		return -EINVAL;
	if (n_digits > 19 || !scale_digits(digits, scale, &value))
		value = strtod(text + negative, NULL);
	if (!isfinite(value))
		return -ERANGE;
	*ret = negative ? -value : value;
	return 0;
}

int parse_seconds(const char *text, double min, double max, double *ret)
{
	/* Two exact factors, because 1e-9 is not exact: "3ns" must be 3e-9. */
	static const struct {
		const char *name;
		double multiply;
		double divide;
	} units[] = {
		{ "", 1, 1 },
		{ "ns", 1, 1e9 },
		{ "us", 1, 1e6 },
		{ "ms", 1, 1e3 },
		{ "s", 1, 1 },
		{ "min", 60, 1 },
		{ "h", 3600, 1 },
	};
	double value;
	int r;

	r = take_decimal(&text, &value);
	if (r == -EINVAL)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text, units[i].name) != 0)
			continue;
		if (r < 0)
			return r;
		value = value * units[i].multiply / units[i].divide;
		if (value < min || value > max)
			return -ERANGE;
		*ret = value;
		return 0;
	}
	return -EINVAL;
}

/* Checks that only blanks and at most one newline are left: 0 or -EINVAL. */
static int expect_attr_end(const char *p)
{
	while (parse_is_blank(*p))
		p++;
	if (*p == '\n')
		p++;
	return *p ? -EINVAL : 0;
}

int parse_attr_u64(const char *text, uint64_t *ret)
{
	uint64_t value;
	int r;

	while (parse_is_blank(*text))
		text++;
	r = take_digits(&text, &value);
	if (r == -EINVAL || expect_attr_end(text) < 0)
		return -EINVAL;
	if (r < 0)
		return r;
	*ret = value;
	return 0;
}

int parse_attr_s64(const char *text, int64_t *ret)
{
	uint64_t magnitude;
	bool negative;
	int r;

	while (parse_is_blank(*text))
		text++;
	negative = *text == '-';
	if (negative && !parse_is_digit(text[1]))
		return -EINVAL;
	r = parse_attr_u64(text + negative, &magnitude);
	if (r < 0)
		return r;
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	/* Negated as unsigned: the magnitude of INT64_MIN does not fit into int64_t. */
	*ret = (int64_t)(negative ? 0 - magnitude : magnitude);
	return 0;
}

int parse_next_u64(const char **cursor, uint64_t *ret)
{
	const char *p = *cursor;
	int r;

	while (parse_is_blank(*p))
		p++;
	if (!parse_is_digit(*p))
		return -ENODATA;
	r = take_digits(&p, ret);
	if (r < 0)
		return r;
	*cursor = p;
	return 0;
}

int parse_version(const char *text, uint64_t *ret_major, uint64_t *ret_minor)
{
	uint64_t major, minor;
	int r;

	r = parse_next_u64(&text, &major);
	if (r < 0)
		return r;
	if (*text++ != '.')
		return -ENODATA;
	r = parse_next_u64(&text, &minor);
	if (r < 0)
		return r;
	*ret_major = major;
	*ret_minor = minor;
	return 0;
}
