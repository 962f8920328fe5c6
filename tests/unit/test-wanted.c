// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "quiet/freq-pin/freq-pin.h"
#include "quiet/freq-pin/wanted.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int kind; /* -1: refused */
		uint64_t khz;
	} cases[] = {
		{ "base", WANTED_BASE, 0 },
		{ "min", WANTED_MIN, 0 },
		{ "max", WANTED_MAX, 0 },
		{ "2.7GHz", WANTED_FREQUENCY, 2700000 },
		{ "2.7ghz", WANTED_FREQUENCY, 2700000 },
		{ "2700MHz", WANTED_FREQUENCY, 2700000 },
		{ "1992.5MHz", WANTED_FREQUENCY, 1992500 },
		{ "2700000", WANTED_FREQUENCY, 2700000 },
		{ "2700000kHz", WANTED_FREQUENCY, 2700000 },
		{ "4.201GHz", WANTED_FREQUENCY, 4201000 },
		{ "0.338GHz", WANTED_FREQUENCY, 338000 },
		{ "", -1, 0 },
		{ "0", -1, 0 },
		{ "0GHz", -1, 0 },
		{ "-1GHz", -1, 0 },
		{ "+1GHz", -1, 0 },
		{ " 1GHz", -1, 0 },
		{ "1 GHz", -1, 0 },
		{ "2.7", -1, 0 },
		{ "2.7G", -1, 0 },
		{ "GHz", -1, 0 },
		{ "2..7GHz", -1, 0 },
		{ "2.7GHzz", -1, 0 },
		{ "200GHz", -1, 0 },
		{ "99999999999999999999", -1, 0 },
		{ "1111111111111111111111111111111111111111GHz", -1, 0 },
		{ "Base", -1, 0 },
		{ "baseGHz", -1, 0 },
		{ "nan", -1, 0 },
		{ "1e6kHz", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wanted_request request = { .kind = WANTED_MAX, .khz = 42 };
		int r = wanted_parse(cases[i].text, &request);

		if (cases[i].kind < 0) {
			assert_int_equal(r, -EINVAL);
			assert_int_equal(request.kind, WANTED_MAX);
			assert_int_equal(request.khz, 42);
			continue;
		}
		assert_int_equal(r, 0);
		assert_int_equal(request.kind, cases[i].kind);
		assert_int_equal(request.khz, cases[i].khz);
	}
}

/* What a policy tells, and what follows. */
struct machine {
	const char *name;
	struct cpufreq_policy_info info;
	struct cpufreq_range range;
	uint64_t base, max;
};

static const struct machine machines[] = {
	{
		.name = "intel_pstate with HWP",
		.info = { .driver = "intel_pstate",
			.hardware_min_khz = 400000,
			.hardware_max_khz = 5000000,
			.base_khz = 1900000,
			.boost = CPUFREQ_BOOST_ON },
		/* CPPC's figure may be another one. */
		.range = { .nominal_khz = 2000000 },
		.base = 1900000,
		.max = 5000000,
	},
	{
		.name = "intel_pstate without HWP: nothing tells the base",
		.info = { .driver = "intel_pstate",
			.hardware_min_khz = 800000,
			.hardware_max_khz = 3900000,
			.boost = CPUFREQ_BOOST_ON },
		.base = 0,
		.max = 3900000,
	},
	{
		.name = "acpi-cpufreq with the marker",
		.info = { .driver = "acpi-cpufreq",
			.hardware_min_khz = 1200000,
			.hardware_max_khz = 2701000,
			.boost = CPUFREQ_BOOST_ON },
		.range = { .table_khz = { 2701000, 2700000, 1200000 },
			.n_table = 3,
			.n_boost = 1,
			.bios_limit_khz = 2701000 },
		.base = 2700000,
		.max = 2701000,
	},
	{
		.name = "acpi-cpufreq on AMD, whose nominal frequency is between two entries",
		.info = { .driver = "acpi-cpufreq",
			.hardware_min_khz = 2200000,
			.hardware_max_khz = 3600000,
			.boost = CPUFREQ_BOOST_OFF },
		.range = { .table_khz = { 3600000, 2800000, 2200000 },
			.n_table = 3,
			.nominal_khz = 3593000,
			.bios_limit_khz = 3600000 },
		.base = 3600000,
		.max = 3600000,
	},
	{
		.name = "amd-pstate-epp, boost off",
		.info = { .driver = "amd-pstate-epp",
			.hardware_min_khz = 400000,
			.hardware_max_khz = 4201000,
			.boost = CPUFREQ_BOOST_OFF },
		.range = { .boost_max_khz = 5450000 },
		.base = 4201000,
		.max = 5450000,
	},
	{
		.name = "cppc_cpufreq with boost on, and firmware that tells nothing",
		.info = { .driver = "cppc_cpufreq",
			.hardware_min_khz = 338000,
			.hardware_max_khz = 3900000,
			.boost = CPUFREQ_BOOST_ON },
		.base = 0,
		.max = 3900000,
	},
	{
		.name = "cppc_cpufreq with boost off",
		.info = { .driver = "cppc_cpufreq",
			.hardware_min_khz = 338000,
			.hardware_max_khz = 3900000,
			.boost = CPUFREQ_BOOST_OFF },
		.base = 3900000,
		.max = 3900000,
	},
	{
		.name = "a nominal frequency of 1 MHz",
		.info = { .driver = "cppc_cpufreq",
			.hardware_min_khz = 338000,
			.hardware_max_khz = 3900000,
			.boost = CPUFREQ_BOOST_ON },
		.range = { .nominal_khz = 1000 },
		.base = 0,
		.max = 3900000,
	},
	{
		.name = "a nominal frequency beyond the maximum",
		.info = { .driver = "cppc_cpufreq",
			.hardware_min_khz = 338000,
			.hardware_max_khz = 2800000,
			.boost = CPUFREQ_BOOST_ON },
		.range = { .nominal_khz = 2808000 },
		.base = 2800000,
		.max = 2800000,
	},
	{
		.name = "a driver that has only a table, all of it boost",
		.info = { .driver = "cpufreq-dt",
			.hardware_min_khz = 600000,
			.hardware_max_khz = 1500000 },
		.range = { .table_khz = { 1500000 }, .n_table = 1, .n_boost = 1 },
		.base = 0,
		.max = 1500000,
	},
};

static void test_base(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		const struct machine *m = &machines[i];

		assert_int_equal(wanted_find_base(&m->info, &m->range), m->base);
		assert_int_equal(wanted_find_max(&m->info, &m->range), m->max);
	}
}

static void test_choose(void **state)
{
	static const struct {
		size_t machine;
		struct wanted_request request;
		int error;
		struct wanted target;
	} cases[] = {
		{ 0, { WANTED_BASE }, 0, { 1900000, WANTED_BOOST_OFF } },
		{ 0, { WANTED_MIN }, 0, { 400000, WANTED_BOOST_OFF } },
		{ 0, { WANTED_MAX }, 0, { 5000000, WANTED_BOOST_ON } },
		{ 0, { WANTED_FREQUENCY, 1900000 }, 0, { 1900000, WANTED_BOOST_OFF } },
		{ 0, { WANTED_FREQUENCY, 1900001 }, 0, { 1900001, WANTED_BOOST_ON } },
		{ 0, { WANTED_FREQUENCY, 400000 }, 0, { 400000, WANTED_BOOST_OFF } },
		{ 0, { WANTED_FREQUENCY, 399999 }, -ERANGE, { 0 } },
		{ 0, { WANTED_FREQUENCY, 5000001 }, -ERANGE, { 0 } },
		/* Nothing tells: boost off and no limits; by number, boost is left. */
		{ 1, { WANTED_BASE }, 0, { 0, WANTED_BOOST_OFF } },
		{ 1, { WANTED_FREQUENCY, 3000000 }, 0, { 3000000, WANTED_BOOST_UNCHANGED } },
		/* Only what is in the table. */
		{ 2, { WANTED_FREQUENCY, 2700000 }, 0, { 2700000, WANTED_BOOST_OFF } },
		{ 2, { WANTED_FREQUENCY, 2701000 }, 0, { 2701000, WANTED_BOOST_ON } },
		{ 2, { WANTED_FREQUENCY, 2000000 }, -ERANGE, { 0 } },
		{ 2, { WANTED_MAX }, 0, { 2701000, WANTED_BOOST_ON } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct machine *m = &machines[cases[i].machine];
		struct wanted target = { .khz = 42 };

		assert_int_equal(wanted_choose(&cases[i].request, &m->info, &m->range, &target),
			cases[i].error);
		if (cases[i].error) {
			assert_int_equal(target.khz, 42);
			continue;
		}
		assert_int_equal(target.khz, cases[i].target.khz);
		assert_int_equal(target.boost, cases[i].target.boost);
		assert_false(target.firmware_limits);
	}
}

/* Firmware that allows less than the base. */
static void test_bios_limit(void **state)
{
	struct cpufreq_policy_info info = machines[2].info;
	struct cpufreq_range range = machines[2].range;
	struct wanted target;

	(void)state;
	range.bios_limit_khz = 2000000;
	assert_int_equal(
		wanted_choose(&(struct wanted_request){ WANTED_BASE }, &info, &range, &target), 0);
	assert_int_equal(target.khz, 1200000);
	assert_true(target.firmware_limits);
	assert_int_equal(
		wanted_choose(&(struct wanted_request){ WANTED_MAX }, &info, &range, &target), 0);
	assert_int_equal(target.khz, 2701000);
	assert_true(target.firmware_limits);
	assert_int_equal(
		wanted_choose(&(struct wanted_request){ WANTED_MIN }, &info, &range, &target), 0);
	assert_false(target.firmware_limits);
	/* A limit of the base says nothing of boost, which lies above it. */
	range.bios_limit_khz = 2700000;
	assert_int_equal(
		wanted_choose(&(struct wanted_request){ WANTED_MAX }, &info, &range, &target), 0);
	assert_false(target.firmware_limits);
}

static void check_range(size_t machine, const char *wanted)
{
	char *text = wanted_format_range(&machines[machine].info, &machines[machine].range);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_format(void **state)
{
	char buf[WANTED_TEXT_SIZE];

	(void)state;
	assert_string_equal(wanted_format(2700000, buf), "2.7 GHz");
	assert_string_equal(wanted_format(2701000, buf), "2.701 GHz");
	assert_string_equal(wanted_format(3000000, buf), "3 GHz");
	assert_string_equal(wanted_format(338000, buf), "0.338 GHz");
	check_range(0, "0.4 to 5 GHz");
	check_range(2, "2.701, 2.7 or 1.2 GHz");
	check_range(9, "1.5 GHz");
}

static void test_rank(void **state)
{
	static const char *const paths[] = {
		"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
		"/sys/devices/system/cpu/intel_pstate/no_turbo",
		"/sys/devices/system/cpu/cpufreq/boost",
		"/sys/devices/system/cpu/cpufreq/policy0/boost",
		"/sys/devices/system/cpu/cpu0/power/energy_perf_bias",
		"/sys/devices/system/cpu/intel_pstate/max_perf_pct",
		"/sys/devices/system/cpu/intel_pstate/min_perf_pct",
		"/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq",
		"/sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed",
		"/sys/devices/system/cpu/cpufreq/policy0/something_else",
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++)
		assert_int_equal(plan_rank(paths[i]), i);
	assert_int_equal(plan_rank("/sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq"), 7);
	assert_int_equal(plan_rank("/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us"), 0);
	assert_int_equal(plan_rank("/sys/devices/system/cpu/cpufreq/policy0/ondemand/boost"), 0);
	assert_int_equal(plan_rank("boost"), ARRAY_SIZE(paths) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_bios_limit),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_rank),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
