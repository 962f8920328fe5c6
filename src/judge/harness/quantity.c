// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/harness/quantity.h"

struct prefix {
	const char *text;
	double factor;
};

static const struct {
	const char *text;
	double seconds, per;
} times[] = {
	{ "ns", 1, 1e9 },
	{ "nsec", 1, 1e9 },
	{ "us", 1, 1e6 },
	{ "usec", 1, 1e6 },
	{ "\xc2\xb5s", 1, 1e6 }, /* U+00B5, the micro sign */
	{ "\xce\xbcs", 1, 1e6 }, /* U+03BC, the Greek letter */
	{ "ms", 1, 1e3 },
	{ "msec", 1, 1e3 },
	{ "s", 1, 1 },
	{ "sec", 1, 1 },
	{ "m", 60, 1 },
	{ "min", 60, 1 },
	{ "h", 3600, 1 },
};

static const struct prefix prefixes[] = {
	{ "", 1 },
	{ "k", 1e3 },
	{ "K", 1e3 },
	{ "M", 1e6 },
	{ "G", 1e9 },
	{ "T", 1e12 },
	{ "Ki", 1024. },
	{ "Mi", 1024. * 1024 },
	{ "Gi", 1024. * 1024 * 1024 },
	{ "Ti", 1024. * 1024 * 1024 * 1024 },
};

/* What is counted; a number of no name stands in front of a '/' only. */
static const struct {
	const char *text, *base;
	bool only_rate;
} things[] = {
	{ "B", "B" },
	{ "bit", "bit" },
	{ "b", "bit" },
	{ "1", "1" },
	{ "", "1", .only_rate = true },
};

static bool is_word(const char *text, size_t n, const char *first, const char *second)
{
	size_t n_first = strlen(first);

	return n == n_first + strlen(second) && strncmp(text, first, n_first) == 0 &&
		strncmp(text + n_first, second, n - n_first) == 0;
}

/* What stands in front of the '/', which is n bytes long. */
static const char *find_base(const char *text, size_t n, struct quantity_unit *ret)
{
	bool is_rate = text[n] == '/';

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		if (is_word(text, n, times[i].text, "")) {
			ret->factor = times[i].seconds;
			ret->per = times[i].per;
			return "s";
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(things); k++) {
			if ((things[k].only_rate && !is_rate) ||
				!is_word(text, n, prefixes[i].text, things[k].text))
				continue;
			ret->factor = prefixes[i].factor;
			return things[k].base;
		}
	}
	return NULL;
}

int quantity_parse_unit(const char *text, struct quantity_unit *ret)
{
	size_t n = strcspn(text, "/");
	const char *per = text + n, *base;
	struct quantity_unit unit = { .factor = 1, .per = 1 };
	int length;

	if (text[text_plain_length(text)] != '\0' || strpbrk(text, " \t"))
		return -EINVAL;
	base = find_base(text, n, &unit);
	if (strcmp(per, "/sec") == 0)
		per = "/s";
	length = base ? snprintf(unit.base, sizeof(unit.base), "%s%s", base, per)
		      : snprintf(unit.base, sizeof(unit.base), "%.*s%s",
				(int)MIN(n, sizeof(unit.base)), text, per);
	if ((size_t)length >= sizeof(unit.base))
		return -EINVAL;
	*ret = unit;
	return 0;
}

double quantity_to_base(double number, const struct quantity_unit *unit)
{
	/* Of two roundings one is spared: 1.354 / 1000 is 0.001354, 1.354 * 0.001 is not. */
	return number * unit->factor / unit->per;
}

bool quantity_is_cost(const char *base)
{
	const struct unit *unit;

	return unit_find(base, &unit) && unit != &unit_integer;
}

bool quantity_is_time(const char *base)
{
	const struct unit *unit;

	return unit_find(base, &unit) && unit_is_time(unit);
}

int quantity_parse_number(const char *text, bool commas, double *ret, double *ret_step)
{
	char digits[64];
	int decimals = 0;
	bool is_fraction = false;
	size_t n = 0;
	double value;
	char *power;

	for (const char *p = text; *p; p++) {
		if (commas && *p == ',' && p > text && parse_is_digit(p[-1]) &&
			parse_is_digit(p[1]) && !is_fraction)
			continue;
		if (n == sizeof(digits) - 1)
			return -EINVAL;
		digits[n++] = *p;
		is_fraction |= *p == '.';
	}
	digits[n] = '\0';
	if (parse_real(digits, &value) < 0)
		return -EINVAL;
	power = strpbrk(digits, "eE");
	if (power) {
		if (parse_int(power + 1 + (power[1] == '+'), -400, 400, &decimals) < 0)
			return -EINVAL;
		*power = '\0';
	}
	if (strchr(digits, '.'))
		decimals -= (int)strlen(strchr(digits, '.') + 1);
	*ret = value;
	*ret_step = pow(10, decimals);
	return 0;
}
