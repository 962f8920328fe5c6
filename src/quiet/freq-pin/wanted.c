// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/freq-pin/wanted.h"

/* 100 GHz: far above any CPU, and far below what overflows. */
#define MAX_KHZ 100000000

int wanted_parse(const char *text, struct wanted_request *ret)
{
	static const struct {
		const char *name;
		enum wanted_kind kind;
	} names[] = { { "base", WANTED_BASE }, { "min", WANTED_MIN }, { "max", WANTED_MAX } };
	static const struct {
		const char *name;
		double khz;
	} units[] = { { "GHz", 1e6 }, { "MHz", 1e3 }, { "kHz", 1 } };
	size_t length = strspn(text, "0123456789.");
	char number[32];
	double value, khz;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i].name) == 0) {
			*ret = (struct wanted_request){ .kind = names[i].kind };
			return 0;
		}
	}
	if (length == 0 || length >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, length);
	number[length] = '\0';
	/* A number without a unit is in kHz, as in sysfs, and has no fraction. */
	if (text[length] == '\0') {
		uint64_t n;

		if (parse_u64(number, 1, MAX_KHZ, &n) < 0)
			return -EINVAL;
		*ret = (struct wanted_request){ .kind = WANTED_FREQUENCY, .khz = n };
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(text + length, units[i].name) != 0)
			continue;
		if (parse_double(number, 0, MAX_KHZ, &value) < 0)
			return -EINVAL;
		khz = value * units[i].khz;
		if (khz < 1 || khz > MAX_KHZ)
			return -EINVAL;
		*ret = (struct wanted_request){
			.kind = WANTED_FREQUENCY,
			.khz = (uint64_t)(khz + 0.5),
		};
		return 0;
	}
	return -EINVAL;
}

static bool max_follows_boost(const char *driver)
{
	return strcmp(driver, "cppc_cpufreq") == 0 || text_starts_with(driver, "amd-pstate");
}

bool wanted_shows_base_without_boost(const struct cpufreq_policy_info *info)
{
	return max_follows_boost(info->driver) && info->boost == CPUFREQ_BOOST_ON;
}

uint64_t wanted_find_max(const struct cpufreq_policy_info *info, const struct cpufreq_range *range)
{
	uint64_t max = MAX(info->hardware_max_khz, range->boost_max_khz);

	return range->n_table > 0 ? MAX(max, range->table_khz[0]) : max;
}

uint64_t wanted_find_base(const struct cpufreq_policy_info *info, const struct cpufreq_range *range)
{
	uint64_t base = info->base_khz;

	if (base == 0 && range->n_table > range->n_boost)
		base = range->table_khz[range->n_boost];
	if (base == 0)
		base = range->nominal_khz;
	if (base == 0 && info->boost == CPUFREQ_BOOST_OFF && max_follows_boost(info->driver))
		base = info->hardware_max_khz;
	/* A base below the hardware's minimum is a mistake of the firmware (a nominal frequency of
	 * 1 MHz has been seen): the base is not known. */
	if (base < info->hardware_min_khz)
		return 0;
	return MIN(base, wanted_find_max(info, range));
}

/* The highest entry of the table that is at most khz; khz itself where there is no table. */
static uint64_t round_down(const struct cpufreq_range *range, uint64_t khz)
{
	for (unsigned i = 0; i < range->n_table; i++) {
		if (range->table_khz[i] <= khz)
			return range->table_khz[i];
	}
	return range->n_table > 0 ? range->table_khz[range->n_table - 1] : khz;
}

static bool has_frequency(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range, uint64_t khz)
{
	if (range->n_table == 0)
		return khz >= info->hardware_min_khz && khz <= wanted_find_max(info, range);
	for (unsigned i = 0; i < range->n_table; i++) {
		if (range->table_khz[i] == khz)
			return true;
	}
	return false;
}

int wanted_choose(const struct wanted_request *request, const struct cpufreq_policy_info *info,
	const struct cpufreq_range *range, struct wanted *ret)
{
	uint64_t base = wanted_find_base(info, range);
	struct wanted target = { 0 };

	switch (request->kind) {
	case WANTED_BASE:
		target.khz = base;
		target.boost = WANTED_BOOST_OFF;
		break;
	case WANTED_MIN:
		target.khz = info->hardware_min_khz;
		target.boost = WANTED_BOOST_OFF;
		break;
	case WANTED_MAX:
		target.khz = wanted_find_max(info, range);
		target.boost = WANTED_BOOST_ON;
		break;
	case WANTED_FREQUENCY:
		if (!has_frequency(info, range, request->khz))
			return -ERANGE;
		target.khz = request->khz;
		if (base > 0)
			target.boost = request->khz > base ? WANTED_BOOST_ON : WANTED_BOOST_OFF;
		break;
	}
	/* Boost frequencies are above bios_limit on healthy machines, so only a frequency without
	 * boost is compared with it. */
	if (range->bios_limit_khz > 0 && base > 0 &&
		range->bios_limit_khz < MIN(target.khz, base)) {
		target.firmware_limits = true;
		if (request->kind == WANTED_BASE)
			target.khz = MAX(
				round_down(range, range->bios_limit_khz), info->hardware_min_khz);
	}
	*ret = target;
	return 0;
}

/* "2.701": up to three decimals, without zeros at the end. */
static const char *format_ghz(uint64_t khz, char buf[static WANTED_TEXT_SIZE])
{
	size_t n;

	snprintf(buf, WANTED_TEXT_SIZE, "%.3f", (double)khz / 1e6);
	n = strlen(buf);
	while (buf[n - 1] == '0')
		buf[--n] = '\0';
	if (buf[n - 1] == '.')
		buf[n - 1] = '\0';
	return buf;
}

const char *wanted_format(uint64_t khz, char buf[static WANTED_TEXT_SIZE])
{
	char number[WANTED_TEXT_SIZE];

	snprintf(buf, WANTED_TEXT_SIZE, "%.26s GHz", format_ghz(khz, number));
	return buf;
}

char *wanted_format_range(const struct cpufreq_policy_info *info, const struct cpufreq_range *range)
{
	_cleanup_text_ struct text t = { 0 };
	char buf[WANTED_TEXT_SIZE];

	for (unsigned i = 0; i < range->n_table; i++)
		text_appendf(&t, "%s%s",
			i == 0				 ? ""
				: i + 1 < range->n_table ? ", "
							 : " or ",
			format_ghz(range->table_khz[i], buf));
	if (range->n_table > 0) {
		text_append(&t, " GHz");
		return text_steal(&t);
	}
	text_append(&t, format_ghz(info->hardware_min_khz, buf));
	text_appendf(&t, " to %s", wanted_format(wanted_find_max(info, range), buf));
	return text_steal(&t);
}
