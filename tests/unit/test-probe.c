// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine/suspects.h"
#include "look/isol-check/probe.h"

static void takes(struct cpumask *rest, const struct topology *topology, const char *expected)
{
	struct cpumask *round;
	char *list;

	assert_int_equal(cpumask_new(&round), 0);
	probe_take_round(topology, rest, round);
	list = cpumask_format_list(round);
	assert_non_null(list);
	assert_string_equal(list, expected);
	free(list);
	cpumask_free(round);
}

/* Threads of one core take turns; what nothing is known of is a core of its own. */
static void test_rounds(void **state)
{
	struct topology *topology;
	struct cpumask *rest;

	(void)state;
	assert_int_equal(topology_new(8, &topology), 0);
	for (int cpu = 0; cpu < 8; cpu++)
		topology->cpus[cpu].core = cpu % 3;
	assert_int_equal(cpumask_new(&rest), 0);
	assert_int_equal(cpumask_parse_list("1-7,9", 0, rest, NULL), 0);
	/* Cores: 1 4 7, 2 5, 3 6; CPU 9 is none of the topology's. */
	takes(rest, topology, "1-3,9");
	takes(rest, topology, "4-6");
	takes(rest, topology, "7");
	assert_true(cpumask_is_empty(rest));
	takes(rest, topology, "");
	cpumask_free(rest);
	topology_free(topology);
}

static struct suspects_reading a_reading(
	const char *interrupts, const char *softirqs, const char *stat)
{
	return (struct suspects_reading){
		.interrupts = (char *)interrupts,
		.interrupts_length = interrupts ? strlen(interrupts) : 0,
		.softirqs = (char *)softirqs,
		.softirqs_length = softirqs ? strlen(softirqs) : 0,
		.stat = (char *)stat,
		.stat_length = stat ? strlen(stat) : 0,
	};
}

static void test_suspects(void **state)
{
	struct suspects_reading before = a_reading(
		"           CPU0       CPU2\n  7:       10       20  IO-APIC  eth0\n"
		"  8:        1        1  IO-APIC  rtc\nLOC:      100      200  Local timer\n",
		"          CPU0 CPU1 CPU2\n      HI: 1 2 3\n   TIMER: 4 5 6\n",
		"cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 0 0 5 0 0 0 3 0 0\n"
		"cpu2 1 0 0 5 0 0 0 4 0 0\nintr 5\n");
	struct suspects_reading after = a_reading(
		"           CPU0       CPU2\n  7:       99       22  IO-APIC  eth0\n"
		"  8:        1        1  IO-APIC  rtc\nLOC:      100      700  Local timer\n",
		"          CPU0 CPU1 CPU2\n      HI: 1 2 3\n   TIMER: 4 5 16\n",
		"cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 0 0 5 0 0 0 9 0 0\n"
		"cpu2 1 0 0 5 0 0 0 5 0 0\nintr 5\n");
	struct suspects suspects;

	(void)state;
	assert_int_equal(suspects_compare(2, &before, &after, &suspects), 0);
	assert_int_equal(suspects.n_interrupts, 2);
	assert_string_equal(suspects.interrupts[0].name, "LOC: Local timer");
	assert_int_equal(suspects.interrupts[0].count, 500);
	assert_int_equal(suspects.interrupts[1].count, 2);
	assert_int_equal(suspects.softirqs[0], 0);
	assert_int_equal(suspects.softirqs[1], 10);
	assert_true(suspects.steal_ns > 0);
	suspects_clear(&suspects);
}

/* A CPU that has no column, and files that could not be read. */
static void test_unknown(void **state)
{
	struct suspects_reading none = a_reading(NULL, NULL, NULL);
	struct suspects_reading some =
		a_reading("           CPU0\nLOC:          1  x\n", "CPU0\n", "cpu0 1\n");
	struct suspects suspects;

	(void)state;
	assert_int_equal(suspects_compare(0, &none, &none, &suspects), 0);
	assert_int_equal(suspects.n_interrupts, 0);
	assert_true(suspects.steal_ns < 0);
	suspects_clear(&suspects);
	assert_int_equal(suspects_compare(5, &some, &some, &suspects), 0);
	assert_int_equal(suspects.n_interrupts, 0);
	assert_true(suspects.steal_ns < 0);
	suspects_clear(&suspects);
}

/* Those that have run, and were last seen on the CPU. */
static void test_tasks(void **state)
{
	struct suspect_task former[] = {
		{ .tid = 3, .cpu = 1, .ran_ns = 100, .comm = "still" },
		{ .tid = 5, .cpu = 0, .ran_ns = 100, .comm = "came" },
		{ .tid = 6, .cpu = 1, .ran_ns = 900, .comm = "went" },
		{ .tid = 8, .cpu = 1, .ran_ns = 900, .comm = "other" },
	};
	struct suspect_task latter[] = {
		{ .tid = 3, .cpu = 1, .ran_ns = 100, .comm = "still" },
		{ .tid = 5, .cpu = 1, .ran_ns = 150, .comm = "came" },
		{ .tid = 6, .cpu = 0, .ran_ns = 990, .comm = "went" },
		{ .tid = 7, .start = 3, .cpu = 1, .ran_ns = 70, .comm = "new\033[1m" },
		{ .tid = 8, .start = 4, .cpu = 1, .ran_ns = 950, .comm = "reused" },
		/* Was not allowed here before: what it has run since when is not known. */
		{ .tid = 9, .start = 2, .cpu = 1, .ran_ns = 36000000, .comm = "old" },
	};
	struct suspects_reading before = { .tasks = former, .n_tasks = 4, .read_ticks = 3 };
	struct suspects_reading after = { .tasks = latter, .n_tasks = 6 };
	struct suspects suspects;

	(void)state;
	assert_int_equal(suspects_compare(1, &before, &after, &suspects), 0);
	assert_int_equal(suspects.n_tasks, 3);
	assert_string_equal(suspects.tasks[0].name, "reused (8)");
	assert_int_equal(suspects.tasks[0].count, 950);
	assert_string_equal(suspects.tasks[1].name, "new\\x1b[1m (7)");
	assert_int_equal(suspects.tasks[1].count, 70);
	assert_string_equal(suspects.tasks[2].name, "came (5)");
	assert_int_equal(suspects.tasks[2].count, 50);
	suspects_clear(&suspects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
