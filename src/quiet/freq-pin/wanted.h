/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frequency a policy is to be held at: computed from values that were read before, without
 * any access to files.
 */
#ifndef QUIESCE_QUIET_FREQ_PIN_WANTED_H
#define QUIESCE_QUIET_FREQ_PIN_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/machine/cpufreq.h"

enum wanted_kind {
	WANTED_BASE, /* the highest that can be held, without boost */
	WANTED_MIN,
	WANTED_MAX, /* with boost */
	WANTED_FREQUENCY,
};

struct wanted_request {
	enum wanted_kind kind;
	uint64_t khz; /* for WANTED_FREQUENCY */
};

enum wanted_boost {
	/* The base frequency is not known, so neither is whether the frequency needs boost. The
	 * switch is left alone: the maximum limits the frequency. */
	WANTED_BOOST_UNCHANGED,
	WANTED_BOOST_OFF,
	WANTED_BOOST_ON,
};

struct wanted {
	uint64_t khz; /* 0: the frequency is not known, and the limits are left alone */
	enum wanted_boost boost;
	/* bios_limit is below the frequency asked for. For WANTED_BASE, khz is lowered to it. */
	bool firmware_limits;
};

/* "base", "min", "max", "2.7GHz", "2700MHz", "2700000kHz", "2700000". -EINVAL for any other text.
 */
int wanted_parse(const char *text, struct wanted_request *ret);

/*
 * The highest frequency that can be held without boost; 0 if it is not known. The first of these
 * that the machine has: base_frequency; the highest entry of the frequency table that is not boost;
 * CPPC's nominal frequency; with cppc_cpufreq and amd-pstate, while boost is off, the hardware's
 * maximum, because it follows the boost switch. The table comes before the nominal frequency
 * because the driver rounds a limit between two entries to one of them.
 */
uint64_t wanted_find_base(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range);
/* Whether switching boost off would tell a base that is not known. */
bool wanted_shows_base_without_boost(const struct cpufreq_policy_info *info);
/* The highest frequency, with boost. While boost is off, some drivers show only the maximum without
 * boost, and so does this. */
uint64_t wanted_find_max(const struct cpufreq_policy_info *info, const struct cpufreq_range *range);

/* -ERANGE for a frequency that the policy does not have. */
int wanted_choose(const struct wanted_request *request, const struct cpufreq_policy_info *info,
	const struct cpufreq_range *range, struct wanted *ret);

/* Writes "2.7 GHz", "2.701 GHz" or "0.338 GHz" into buf, and returns buf. */
enum {
	WANTED_TEXT_SIZE = 32,
};
const char *wanted_format(uint64_t khz, char buf[static WANTED_TEXT_SIZE]);
/* "0.4 GHz to 5 GHz", "2.7, 2.2 or 1.2 GHz"; malloc'd, NULL without memory. */
char *wanted_format_range(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range);

#endif
