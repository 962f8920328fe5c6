// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/units.h"

/* pyperf's rule (_formatter.py: format_timedeltas): the power of ten of the reference decides. */
struct scale scale_choose(double reference_seconds)
{
	static const struct {
		double least;
		struct scale scale;
	} scales[] = {
		{ 1e2, { "s", 1, 0 } },
		{ 1e1, { "s", 1, 1 } },
		{ 1e0, { "s", 1, 2 } },
		{ 1e-1, { "ms", 1e3, 0 } },
		{ 1e-2, { "ms", 1e3, 1 } },
		{ 1e-3, { "ms", 1e3, 2 } },
		{ 1e-4, { "us", 1e6, 0 } },
		{ 1e-5, { "us", 1e6, 1 } },
		{ 1e-6, { "us", 1e6, 2 } },
		{ 1e-7, { "ns", 1e9, 0 } },
		{ 1e-8, { "ns", 1e9, 1 } },
		{ 0, { "ns", 1e9, 2 } },
	};
	double reference = fabs(reference_seconds);

	for (size_t i = 0; i < ARRAY_SIZE(scales); i++)
		if (reference >= scales[i].least)
			return scales[i].scale;
	/* NaN compares false with every row. */
	return scales[0].scale;
}

static const struct unit second = { "second", UNIT_IS_TIME, { 0 } };
const struct unit unit_byte = { "byte", UNIT_IS_BYTES, { 0 } };
const struct unit unit_integer = { "integer", UNIT_IS_NUMBER, { 0 } };

static const struct unit shown[] = {
	{ "second", UNIT_IS_TIME, { "s", 1, 0 } },
	{ "second", UNIT_IS_TIME, { "ms", 1e3, 0 } },
	{ "second", UNIT_IS_TIME, { "us", 1e6, 0 } },
	{ "second", UNIT_IS_TIME, { "ns", 1e9, 0 } },
};

bool unit_is_time(const struct unit *unit)
{
	return !unit || unit->kind == UNIT_IS_TIME;
}

int unit_parse_shown(const char *word, const struct unit **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		if (strcmp(word, shown[i].shown.unit) == 0) {
			*ret = &shown[i];
			return 0;
		}
	}
	return -EINVAL;
}

/* A scale that shows three digits of the reference, but no more than 9 decimals. */
static struct scale scale_choose_shown(struct scale scale, double reference)
{
	double digits = floor(log10(fabs(reference) * scale.factor));

	if (reference != 0 && isfinite(digits))
		scale.decimals = (int)MIN(MAX(2 - digits, 0.0), 9.0);
	return scale;
}

int unit_parse(const char *word, const struct unit **ret)
{
	static const struct unit *const units[] = { &second, &unit_byte, &unit_integer };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(word ? word : second.name, units[i]->name) == 0) {
			*ret = units[i] == &second ? UNIT_SECOND : units[i];
			return 0;
		}
	}
	return -EINVAL;
}

const char *unit_name(const struct unit *unit)
{
	return unit ? unit->name : second.name;
}

const char *unit_plural(const struct unit *unit)
{
	return unit && unit->kind == UNIT_IS_OTHER ? "" : "s";
}

static bool is_per(const char *word, const char *base)
{
	size_t n = strlen(base);

	return strncmp(word, base, n) == 0 && (word[n] == '\0' || word[n] == '/');
}

bool unit_find(const char *word, const struct unit **ret)
{
	if (is_per(word, "s"))
		*ret = UNIT_SECOND;
	else if (is_per(word, "B") && strcmp(word, "B/s") != 0)
		*ret = &unit_byte;
	else if (*word == '\0')
		*ret = &unit_integer;
	else
		return false;
	return true;
}

bool unit_is_same(const struct unit *a, const struct unit *b)
{
	return unit_is_time(a) == unit_is_time(b) && strcmp(unit_name(a), unit_name(b)) == 0;
}

/* A counter, a rate, or a median of two numbers need not be a whole number. */
static int choose_decimals(double number)
{
	return number < 1000 && number != floor(number) ? (int)MIN(3 - floor(log10(number)), 9.0)
							: 0;
}

struct scale scale_choose_unit(const struct unit *unit, double reference)
{
	double size = fabs(reference);

	if (!unit)
		return scale_choose(reference);
	if (unit->kind == UNIT_IS_TIME)
		return scale_choose_shown(unit->shown, reference);
	if (unit->kind != UNIT_IS_BYTES)
		return (struct scale){ unit->kind == UNIT_IS_OTHER ? unit->name : "", 1,
			choose_decimals(size) };
	if (size < 10 * 1024.0)
		return (struct scale){ "B", 1, 0 };
	if (size < 10 * 1024.0 * 1024)
		return (struct scale){ "KiB", 1 / 1024.0, 1 };
	if (size < 10 * 1024.0 * 1024 * 1024)
		return (struct scale){ "MiB", 1 / 1024.0 / 1024, 1 };
	return (struct scale){ "GiB", 1 / 1024.0 / 1024 / 1024, 1 };
}

bool scale_shows(struct scale scale, double value)
{
	return value == 0 || fabs(value) * scale.factor * pow(10, scale.decimals) >= 9.5;
}

struct scale scale_refine(struct scale scale, int decimals)
{
	scale.decimals += decimals;
	return scale;
}

struct scale scale_resolve(struct scale scale, double difference)
{
	double printed = fabs(difference) * scale.factor;

	while (printed > 0 && scale.decimals < 9 && printed * pow(10, scale.decimals) < 0.95)
		scale.decimals++;
	return scale;
}

const char *scale_format_bare(struct scale scale, double seconds, char buf[static UNITS_TEXT_SIZE])
{
	int n = snprintf(buf, UNITS_TEXT_SIZE, "%.*f", scale.decimals, seconds * scale.factor);

	/* The number is too long for buf: an exponent is better than cut digits. */
	if (n >= UNITS_TEXT_SIZE)
		snprintf(buf, UNITS_TEXT_SIZE, "%.*e", scale.decimals, seconds * scale.factor);
	return buf;
}

const char *scale_format(struct scale scale, double seconds, char buf[static UNITS_TEXT_SIZE])
{
	char number[UNITS_TEXT_SIZE];
	int n;

	scale_format_bare(scale, seconds, number);
	n = snprintf(buf, UNITS_TEXT_SIZE, "%s%s%s", number, *scale.unit ? " " : "", scale.unit);
	if (n >= UNITS_TEXT_SIZE)
		snprintf(buf, UNITS_TEXT_SIZE, "%.*e %s", scale.decimals, seconds * scale.factor,
			scale.unit);
	return buf;
}

const char *scale_format_shown(
	struct scale scale, const struct unit *unit, double value, char buf[static UNITS_TEXT_SIZE])
{
	if (!scale_shows(scale, value))
		scale = scale_refine(scale_choose_unit(unit, value), 1);
	return scale_format(scale, value, buf);
}

const char *units_format_seconds(double seconds, char buf[static UNITS_TEXT_SIZE])
{
	return scale_format(scale_choose(seconds), seconds, buf);
}

static const char *format_percent(double proportion, bool sign, char *buf)
{
	double percent = fabs(proportion) * 100;
	int decimals = 0;

	/* 9.95 with one decimal would be rounded to "10.0". */
	for (double least = 9.95; percent < least && decimals < 9 && percent > 0; least /= 10)
		decimals++;
	/* "? %" for 0 / 0; a value that rounds to 0 is printed without a sign. */
	if (isnan(percent))
		snprintf(buf, UNITS_TEXT_SIZE, "? %%");
	else if (sign && isinf(percent))
		snprintf(buf, UNITS_TEXT_SIZE, "from 0");
	else if (percent < 0.5 * pow(10, -decimals))
		snprintf(buf, UNITS_TEXT_SIZE, "0 %%");
	else if (!isfinite(percent) || percent > 1e12)
		snprintf(buf, UNITS_TEXT_SIZE, sign ? "%+g %%" : "%g %%", proportion * 100);
	else if (sign)
		snprintf(buf, UNITS_TEXT_SIZE, "%+.*f %%", decimals, proportion * 100);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%.*f %%", decimals, proportion * 100);
	return buf;
}

const char *units_format_percent(double proportion, char buf[static UNITS_TEXT_SIZE])
{
	return format_percent(proportion, false, buf);
}

const char *units_format_change(double proportion, char buf[static UNITS_TEXT_SIZE])
{
	return format_percent(proportion, true, buf);
}

const char *units_format_difference(double value, double base, char buf[static UNITS_TEXT_SIZE])
{
	return units_format_change((value - base) / fabs(base), buf);
}
