// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine/cpufreq.h"
#include "base/machine/cpupower.h"
#include "base/macro.h"
#include "config.h"

#include "fake-machine.h"

#define CPU "/sys/devices/system/cpu/"

static void write_policy(int cpu, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/%s", cpu, name);
	assert_true(fake_machine_write(path, text));
}

static void write_limits(int cpu, const char *driver, const char *governor)
{
	write_policy(cpu, "scaling_driver", driver);
	write_policy(cpu, "scaling_governor", governor);
	write_policy(cpu, "cpuinfo_min_freq", "400000\n");
	write_policy(cpu, "cpuinfo_max_freq", "4700000\n");
	write_policy(cpu, "scaling_min_freq", "800000\n");
	write_policy(cpu, "scaling_max_freq", "2800000\n");
}

#if HAVE_LIBCPUPOWER
static void test_policy(_unused_ void **state)
{
	struct cpufreq_policy_info info;

	write_limits(3, "intel_pstate\n", "powersave\n");
	write_policy(3, "energy_performance_preference", "balance_performance\n");
	write_policy(3, "base_frequency", "2800000\n");
	assert_true(fake_machine_write(CPU "intel_pstate/no_turbo", "0\n"));
	/* The library takes this for its own. */
	errno = ERANGE;
	assert_int_equal(cpufreq_read_policy(3, &info), 0);
	assert_string_equal(info.driver, "intel_pstate");
	assert_string_equal(info.governor, "powersave");
	assert_string_equal(info.epp, "balance_performance");
	assert_int_equal(info.hardware_min_khz, 400000);
	assert_int_equal(info.hardware_max_khz, 4700000);
	assert_int_equal(info.min_khz, 800000);
	assert_int_equal(info.max_khz, 2800000);
	assert_int_equal(info.base_khz, 2800000);
	assert_int_equal(info.boost, CPUFREQ_BOOST_ON);
}

static void test_policy_with_gaps(_unused_ void **state)
{
	struct cpufreq_policy_info info;

	write_policy(0, "scaling_driver", "acpi-cpufreq\n");
	write_policy(0, "scaling_governor", "\n");
	write_policy(0, "scaling_max_freq", "<unknown>\n");
	write_policy(0, "energy_performance_preference", "<unsupported>\n");
	write_policy(0, "base_frequency", "fast\n");
	assert_int_equal(cpufreq_read_policy(0, &info), 0);
	assert_string_equal(info.driver, "acpi-cpufreq");
	assert_string_equal(info.governor, "");
	assert_string_equal(info.epp, "");
	assert_int_equal(info.hardware_max_khz, 0);
	assert_int_equal(info.max_khz, 0);
	assert_int_equal(info.base_khz, 0);
	assert_int_equal(info.boost, CPUFREQ_BOOST_UNKNOWN);

	/* To the library this is a number. */
	write_policy(0, "scaling_governor", "userspace\n");
	write_policy(0, "scaling_min_freq", "-1\n");
	write_policy(0, "scaling_max_freq", "2000000\n");
	assert_int_equal(cpufreq_read_policy(0, &info), 0);
	assert_int_equal(info.min_khz, 0);
	assert_int_equal(info.max_khz, 2000000);

	/* A number is a preference, too. */
	write_policy(0, "energy_performance_preference", "128\n");
	assert_int_equal(cpufreq_read_policy(0, &info), 0);
	assert_string_equal(info.epp, "128");
}

static void test_range(_unused_ void **state)
{
	struct cpufreq_range range;

	write_policy(1, "scaling_driver", "acpi-cpufreq\n");
	write_policy(1, "scaling_available_frequencies", "1200000 3000000 2401000 2400000 -1 \n");
	write_policy(1, "scaling_boost_frequencies", "3400000 3200000 \n");
	assert_true(fake_machine_write(CPU "cpu1/acpi_cppc/nominal_freq", "2400\n"));
	write_policy(1, "bios_limit", "2800000\n");
	errno = ERANGE;
	assert_int_equal(cpufreq_read_range(1, "acpi-cpufreq", &range), 0);
	assert_int_equal(range.n_table, 6);
	assert_int_equal(range.n_boost, 2);
	assert_int_equal(range.table_khz[0], 3400000);
	assert_int_equal(range.table_khz[2], 3000000);
	assert_int_equal(range.table_khz[5], 1200000);
	assert_int_equal(range.nominal_khz, 2400000);
	assert_int_equal(range.bios_limit_khz, 2800000);

	/* The marker of turbo in an ACPI table. */
	fake_machine_clear("/sys/devices/");
	write_policy(1, "scaling_driver", "acpi-cpufreq\n");
	write_policy(1, "scaling_available_frequencies", "2401000 2400000 1200000 \n");
	assert_int_equal(cpufreq_read_range(1, "acpi-cpufreq", &range), 0);
	assert_int_equal(range.n_table, 3);
	assert_int_equal(range.n_boost, 1);

	/* No table, and one that is none. */
	write_policy(1, "scaling_available_frequencies", "<unsupported>\n");
	assert_int_equal(cpufreq_read_range(1, "acpi-cpufreq", &range), 0);
	assert_int_equal(range.n_table, 0);
	assert_int_equal(range.nominal_khz, 0);
}

static void test_related(_unused_ void **state)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *list = NULL;

	assert_int_equal(cpupower_read_related(1, &cpus), -ENOENT);
	write_policy(1, "related_cpus", "0 1 12\n");
	assert_int_equal(cpupower_read_related(1, &cpus), 0);
	list = cpumask_format_list(cpus);
	assert_string_equal(list, "0-1,12");
	write_policy(1, "related_cpus", "0 1 4000000000\n");
	assert_int_equal(cpupower_read_related(1, &cpus), -ENOENT);
	write_policy(1, "related_cpus", "all\n");
	assert_int_equal(cpupower_read_related(1, &cpus), -ENOENT);
}
#else
static void test_without_library(_unused_ void **state)
{
	struct cpufreq_policy_info info = { .driver = "untouched" };
	struct cpumask *cpus = NULL;
	struct cpufreq_range range;

	write_limits(3, "intel_pstate\n", "powersave\n");
	write_policy(3, "related_cpus", "3\n");
	assert_int_equal(cpufreq_read_policy(3, &info), -EOPNOTSUPP);
	assert_string_equal(info.driver, "untouched");
	assert_int_equal(cpufreq_read_range(3, "intel_pstate", &range), -EOPNOTSUPP);
	assert_int_equal(cpupower_read_related(3, &cpus), -EOPNOTSUPP);
}
#endif

static void test_no_policy(_unused_ void **state)
{
	struct cpufreq_policy_info info = { .driver = "untouched" };

	assert_int_equal(cpufreq_read_policy(0, &info), -ENOENT);
	assert_string_equal(info.driver, "untouched");
	assert_int_equal(cpufreq_read_boost(0, ""), CPUFREQ_BOOST_UNKNOWN);
	assert_int_equal(cpufreq_open_current(0), -ENOENT);
}

static void test_boost(_unused_ void **state)
{
	static const struct {
		const char *driver;
		/* NULL: no such file. */
		const char *no_turbo, *global, *policy, *cpb;
		enum cpufreq_boost boost;
	} cases[] = {
		{ "intel_pstate", "0", NULL, NULL, NULL, CPUFREQ_BOOST_ON },
		{ "intel_pstate", "1", NULL, NULL, NULL, CPUFREQ_BOOST_OFF },
		/* Any number but 0 is yes (kernel). */
		{ "intel_cpufreq", "2", NULL, NULL, NULL, CPUFREQ_BOOST_OFF },
		{ "intel_cpufreq", "0", NULL, NULL, NULL, CPUFREQ_BOOST_ON },
		{ "intel_pstate", NULL, NULL, NULL, NULL, CPUFREQ_BOOST_UNKNOWN },
		{ "intel_pstate", "", NULL, NULL, NULL, CPUFREQ_BOOST_UNKNOWN },
		/* no_turbo is not this driver's. */
		{ "acpi-cpufreq", "1", "1", NULL, NULL, CPUFREQ_BOOST_ON },
		{ "acpi-cpufreq", NULL, "0", NULL, NULL, CPUFREQ_BOOST_OFF },
		{ "acpi-cpufreq", NULL, NULL, NULL, NULL, CPUFREQ_BOOST_UNKNOWN },
		{ "acpi-cpufreq", NULL, "1", NULL, "1", CPUFREQ_BOOST_ON },
		{ "acpi-cpufreq", NULL, "1", NULL, "0", CPUFREQ_BOOST_OFF },
		{ "acpi-cpufreq", NULL, NULL, NULL, "1", CPUFREQ_BOOST_ON },
		{ "amd-pstate-epp", NULL, "1", "1", NULL, CPUFREQ_BOOST_ON },
		{ "amd-pstate-epp", NULL, "1", "0", NULL, CPUFREQ_BOOST_OFF },
		{ "amd-pstate-epp", NULL, "0", "1", NULL, CPUFREQ_BOOST_OFF },
		{ "cppc_cpufreq", NULL, NULL, "1", NULL, CPUFREQ_BOOST_ON },
		{ "cppc_cpufreq", NULL, "x", "y", NULL, CPUFREQ_BOOST_UNKNOWN },
		/* The one that cannot be read may be off. */
		{ "cppc_cpufreq", NULL, "1", "x", NULL, CPUFREQ_BOOST_UNKNOWN },
		{ "cppc_cpufreq", NULL, "x", "1", NULL, CPUFREQ_BOOST_UNKNOWN },
		{ "cppc_cpufreq", NULL, "x", "0", NULL, CPUFREQ_BOOST_OFF },
		{ "", NULL, NULL, NULL, NULL, CPUFREQ_BOOST_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_machine_clear("/sys/devices/");
		if (cases[i].no_turbo)
			assert_true(
				fake_machine_write(CPU "intel_pstate/no_turbo", cases[i].no_turbo));
		if (cases[i].global)
			assert_true(fake_machine_write(CPU "cpufreq/boost", cases[i].global));
		if (cases[i].policy)
			write_policy(1, "boost", cases[i].policy);
		if (cases[i].cpb)
			write_policy(1, "cpb", cases[i].cpb);
		fprintf(stderr, "case %zu, %s\n", i, cases[i].driver);
		assert_int_equal(cpufreq_read_boost(1, cases[i].driver), cases[i].boost);
	}
}

static void test_current(_unused_ void **state)
{
	uint64_t khz = 77;
	int fd;

	write_policy(1, "scaling_cur_freq", "<unknown>\n");
	fd = cpufreq_open_current(1);
	assert_true(fd >= 0);
	assert_int_equal(cpufreq_read_current(fd, &khz), -EINVAL);
	assert_int_equal(khz, 77);
	write_policy(1, "scaling_cur_freq", "2893999\n");
	assert_int_equal(cpufreq_read_current(fd, &khz), 0);
	assert_int_equal(khz, 2893999);
	write_policy(1, "scaling_cur_freq", "800000\n");
	assert_int_equal(cpufreq_read_current(fd, &khz), 0);
	assert_int_equal(khz, 800000);
	close(fd);
}

static void test_compute_base(_unused_ void **state)
{
	static const struct {
		uint64_t min, max, states, turbo, base;
	} cases[] = {
		{ 1200000, 3200000, 21, 39, 2400000 },
		/* Linux 6.12 with no_turbo = 1: the maximum is the base. */
		{ 1200000, 2400000, 21, 39, 2400000 },
		{ 800000, 3900000, 32, 17, 3400000 },
		/* No turbo at all. */
		{ 1200000, 2400000, 13, 0, 2400000 },
		/* Other steps than 100 MHz. */
		{ 500000, 2166000, 21, 0, 2166000 },
		{ 1200000, 3250000, 21, 39, 2430000 },
		{ 1200000, 3250001, 21, 39, 0 },
		{ 1200000, 3200000, 21, 100, 0 },
		{ 1200000, 3200000, 21, 101, 0 },
		{ 1200000, 3200000, 1, 0, 0 },
		{ 1200000, 3200000, 0, 0, 0 },
		{ 3200000, 1200000, 21, 39, 0 },
		{ 0, 0, 21, 39, 0 },
		{ 1200000, 3200000, UINT64_MAX, 39, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(cpufreq_compute_base(cases[i].min, cases[i].max, cases[i].states,
					 cases[i].turbo),
			cases[i].base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if HAVE_LIBCPUPOWER
		cmocka_unit_test_setup(test_policy, fake_machine_setup),
		cmocka_unit_test_setup(test_policy_with_gaps, fake_machine_setup),
		cmocka_unit_test_setup(test_range, fake_machine_setup),
		cmocka_unit_test_setup(test_related, fake_machine_setup),
#else
		cmocka_unit_test_setup(test_without_library, fake_machine_setup),
#endif
		cmocka_unit_test_setup(test_no_policy, fake_machine_setup),
		cmocka_unit_test_setup(test_boost, fake_machine_setup),
		cmocka_unit_test_setup(test_current, fake_machine_setup),
		cmocka_unit_test(test_compute_base),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("cpufreq", tests, NULL, NULL);
}
