// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine/statetime.h"
#include "base/macro.h"
#include "config.h"

#include "fake-machine.h"

#define CPU "/sys/devices/system/cpu/"

static void write_file(int cpu, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "cpu%d/%s", cpu, name);
	assert_true(fake_machine_write(path, text));
}

/* CPUs 2 and 3 have a policy in common, and two deep states each. */
static void write_machine(void)
{
	for (int cpu = 2; cpu <= 3; cpu++) {
		write_file(cpu, "cpuidle/state0/name", "POLL\n");
		write_file(cpu, "cpuidle/state0/latency", "0\n");
		write_file(cpu, "cpuidle/state1/name", "C1\n");
		write_file(cpu, "cpuidle/state1/latency", "2\n");
		write_file(cpu, "cpuidle/state2/name", "C3\n");
		write_file(cpu, "cpuidle/state2/latency", "33\n");
		write_file(cpu, "cpuidle/state3/name", "C6\n");
		write_file(cpu, "cpuidle/state3/latency", "133\n");
		write_file(cpu, "cpufreq/scaling_driver", "acpi-cpufreq\n");
		write_file(cpu, "cpufreq/related_cpus", "2 3\n");
		write_file(cpu, "cpufreq/stats/time_in_state", "3000000 5\n1000000 7\n");
		write_file(cpu, "cpufreq/stats/total_trans", "11\n");
	}
}

static struct statetime *open_cpus(const char *list)
{
	struct cpumask *mask = NULL;
	struct statetime *states;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list(list, 8192, mask, NULL), 0);
	assert_int_equal(statetime_open(mask, &states), 0);
	cpumask_free(mask);
	return states;
}

static void check_paths(const struct statetime *states, const char *const *paths, size_t n)
{
	char buf[CPUFREQ_PATH_SIZE];

	assert_int_equal(statetime_count(states), n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(statetime_path(states, i, buf) + strlen(CPU), paths[i]);
}

static void test_nothing(_unused_ void **state)
{
	struct statetime *states = open_cpus("0-3");
	struct statetime_change change;

	assert_int_equal(statetime_count(states), 0);
	statetime_begin(states);
	statetime_begin(states);
	statetime_compare(states, &change);
	assert_int_equal(change.deep_idle_ns, -1);
	assert_int_equal(change.frequency_changes, -1);
	assert_int_equal(change.mean_khz, -1);
	statetime_free(states);
}

static void test_files(_unused_ void **state)
{
	static const char *const both[] = { "cpu2/cpuidle/state2/time", "cpu2/cpuidle/state3/time",
		"cpu3/cpuidle/state2/time", "cpu3/cpuidle/state3/time",
		"cpu2/cpufreq/stats/total_trans", "cpu2/cpufreq/stats/time_in_state" };
	struct statetime *states;

	write_machine();
	states = open_cpus("2-3");
	check_paths(states, both, HAVE_LIBCPUPOWER ? ARRAY_SIZE(both) : 0);
	statetime_free(states);
	/* Of no CPU where a state of one is not known. */
	write_file(3, "cpuidle/state3/latency", "x\n");
	states = open_cpus("2-3");
	check_paths(states, both + 4, HAVE_LIBCPUPOWER ? 2 : 0);
	statetime_free(states);
	states = open_cpus("2-10");
	assert_int_equal(statetime_count(states), 0);
	statetime_free(states);
}

#if HAVE_LIBCPUPOWER
static void add_reading(
	struct statetime *states, const char *idle, const char *changes, const char *table)
{
	statetime_begin(states);
	for (size_t i = 0; i < 2 && idle; i++)
		statetime_add(states, i, i == 0 ? idle : "500\n");
	if (changes)
		statetime_add(states, 2, changes);
	if (table)
		statetime_add(states, 3, table);
}

static void test_changes(_unused_ void **state)
{
	static const struct {
		const char *idle, *changes, *table;
		int64_t deep_idle_ns, frequency_changes, mean_khz;
	} cases[] = {
		{ "1500\n", "100\n", "3000000 1000\n1000000 1000\n", -1, -1, -1 },
		/* Ticks of two seconds at each: the mean is known well enough. */
		{ "3000\n", "103\n", "3000000 1200\n1000000 1200\n", 1500000, 3, 2000000 },
		/* Of 300 ms in all it is not. */
		{ "3000\n", "104\n", "3000000 1220\n1000000 1210\n", 0, 1, -1 },
		/* But where there was one frequency. */
		{ "3001\n", "104\n", "3000000 1220\n1000000 1212\n", 1000, 0, 1000000 },
		/* No tick has come. */
		{ "3001\n", "104\n", "3000000 1220\n1000000 1212\n", 0, 0, -1 },
		/* What was not read, or is odd, and the reading after it. */
		{ NULL, "x\n", "3000000\n", -1, -1, -1 },
		{ "4000\n", "105\n", "3000000 5220\n1000000 1212\n", -1, -1, -1 },
		/* Four seconds, and nothing is known of the changes. */
		{ "4000\n", NULL, "3000000 5420\n1000000 1412\n", 0, -1, 2000000 },
		{ "4000\n", "105\n", "3000000 5520\n2000000 1412\n", 0, -1, -1 },
		/* Counters that have begun anew. */
		{ "10\n", "1\n", "3000000 10\n2000000 10\n", -1, -1, -1 },
		{ "20\n", "1\n", "3000000 12\n2000000 10\n", 10000, 0, 3000000 },
		{ "18446744073709551615\n", "18446744073709551615\n", "3000000 1\n", -1, -1, -1 },
	};
	struct statetime *states;

	write_machine();
	states = open_cpus("2");
	assert_int_equal(statetime_count(states), 4);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct statetime_change change;

		fprintf(stderr, "case %zu\n", i);
		add_reading(states, cases[i].idle, cases[i].changes, cases[i].table);
		statetime_compare(states, &change);
		assert_int_equal(change.deep_idle_ns, cases[i].deep_idle_ns);
		assert_int_equal(change.frequency_changes, cases[i].frequency_changes);
		assert_int_equal(change.mean_khz, cases[i].mean_khz);
	}
	statetime_free(states);
}
#endif

static void test_tables(_unused_ void **state)
{
	static const char *const odd[] = { "", "\n", "1\n", "1 2 3\n", "1 2\n\n", "1 2\nx",
		"1\t2\n", "1 -2\n", "1 18446744073709551616\n" };
	struct statetime_table table;
	char many[CPUFREQ_TABLE_MAX * 8 + 16] = "";

	assert_int_equal(
		statetime_parse_table("3000000 18446744073709551615\n800000 0\n", &table), 0);
	assert_int_equal(table.n, 2);
	assert_int_equal(table.khz[0], 3000000);
	assert_true(table.ticks[0] == UINT64_MAX);
	assert_int_equal(table.khz[1], 800000);
	assert_int_equal(table.ticks[1], 0);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		assert_int_equal(statetime_parse_table(odd[i], &table), -EBADMSG);
	for (int i = 0; i < CPUFREQ_TABLE_MAX; i++)
		memcpy(many + i * 4, "1 2\n", 4);
	assert_int_equal(statetime_parse_table(many, &table), 0);
	memcpy(many + CPUFREQ_TABLE_MAX * 4, "1 2\n", 4);
	assert_int_equal(statetime_parse_table(many, &table), -ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, fake_machine_setup),
		cmocka_unit_test_setup(test_files, fake_machine_setup),
#if HAVE_LIBCPUPOWER
		cmocka_unit_test_setup(test_changes, fake_machine_setup),
#endif
		cmocka_unit_test(test_tables),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("statetime", tests, NULL, NULL);
}
