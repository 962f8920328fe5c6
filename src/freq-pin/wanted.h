/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frequency a policy is to be held at. Knows no file and changes nothing.
 */
#ifndef QUIESCE_FREQ_PIN_WANTED_H
#define QUIESCE_FREQ_PIN_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/cpufreq.h"

enum wanted_kind {
	WANTED_BASE, /* the highest that can be held, without boost */
	WANTED_MIN,
	WANTED_MAX, /* with boost */
	WANTED_FREQUENCY,
};

struct wanted_request {
	enum wanted_kind kind;
	uint64_t khz; /* of WANTED_FREQUENCY */
};

enum wanted_boost {
	WANTED_BOOST_LEFT, /* nothing tells whether the frequency needs it, and the cap holds it */
	WANTED_BOOST_OFF,
	WANTED_BOOST_ON,
};

struct wanted {
	uint64_t khz; /* 0: nothing tells one; limits are left alone */
	enum wanted_boost boost;
	/* bios_limit is below what was asked for. For WANTED_BASE, khz has come down to it. */
	bool firmware_limits;
};

/* "base", "min", "max", "2.7GHz", "2700MHz", "2700000kHz", "2700000". -EINVAL for another text. */
int wanted_parse(const char *text, struct wanted_request *ret);

/*
 * The highest frequency that can be held without boost, 0 where nothing tells: base_frequency, the
 * highest of the table that is no boost, CPPC's nominal one; with cppc_cpufreq and amd-pstate the
 * hardware's maximum while boost is off, for it follows the switch. The table comes before the
 * nominal frequency because a limit between two entries is rounded to one of them.
 */
uint64_t wanted_find_base(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range);
/* The highest frequency of all. While boost is off, drivers may tell only what there is without. */
uint64_t wanted_find_max(const struct cpufreq_policy_info *info, const struct cpufreq_range *range);

/* -ERANGE for a frequency that the policy has not. */
int wanted_choose(const struct wanted_request *request, const struct cpufreq_policy_info *info,
	const struct cpufreq_range *range, struct wanted *ret);

/* "2.7 GHz", "2.701 GHz", "0.338 GHz" into buf, which is returned. */
enum {
	WANTED_TEXT_SIZE = 32,
};
const char *wanted_format(uint64_t khz, char buf[static WANTED_TEXT_SIZE]);
/* "0.4 GHz to 5 GHz", "2.7, 2.2 or 1.2 GHz"; malloc'd, NULL when memory is short. */
char *wanted_format_range(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range);

#endif
