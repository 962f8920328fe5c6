/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frequency a policy is to be held at. Knows no file and changes nothing.
 */
#ifndef QUIESCE_FREQ_PIN_TARGET_H
#define QUIESCE_FREQ_PIN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/cpufreq.h"

enum target_kind {
	TARGET_BASE, /* the highest that can be held, without boost */
	TARGET_MIN,
	TARGET_MAX, /* with boost */
	TARGET_FREQUENCY,
};

struct target_request {
	enum target_kind kind;
	uint64_t khz; /* of TARGET_FREQUENCY */
};

enum target_boost {
	TARGET_BOOST_LEFT, /* nothing tells whether the frequency needs it, and the cap holds it */
	TARGET_BOOST_OFF,
	TARGET_BOOST_ON,
};

struct target {
	uint64_t khz; /* 0: nothing tells one; limits are left alone */
	enum target_boost boost;
	/* bios_limit is below what was asked for. For TARGET_BASE, khz has come down to it. */
	bool firmware_limits;
};

/* "base", "min", "max", "2.7GHz", "2700MHz", "2700000kHz", "2700000". -EINVAL for another text. */
int target_parse(const char *text, struct target_request *ret);

/*
 * The highest frequency that can be held without boost, 0 where nothing tells: base_frequency, the
 * highest of the table that is no boost, CPPC's nominal one; with cppc_cpufreq and amd-pstate the
 * hardware's maximum while boost is off, for it follows the switch. The table comes before the
 * nominal frequency because a limit between two entries is rounded to one of them.
 */
uint64_t target_find_base(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range);
/* The highest frequency of all. While boost is off, drivers may tell only what there is without. */
uint64_t target_find_max(const struct cpufreq_policy_info *info, const struct cpufreq_range *range);

/* -ERANGE for a frequency that the policy has not. */
int target_choose(const struct target_request *request, const struct cpufreq_policy_info *info,
	const struct cpufreq_range *range, struct target *ret);

/* "2.7 GHz", "2.701 GHz", "0.338 GHz" into buf, which is returned. */
enum {
	TARGET_TEXT_SIZE = 32,
};
const char *target_format(uint64_t khz, char buf[static TARGET_TEXT_SIZE]);
/* "0.4 GHz to 5 GHz", "2.7, 2.2 or 1.2 GHz"; malloc'd, NULL when memory is short. */
char *target_format_range(
	const struct cpufreq_policy_info *info, const struct cpufreq_range *range);

#endif
