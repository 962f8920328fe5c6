// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/procstat.h"
#include "base/machine/schedstat.h"
#include "base/macro.h"

#define TICK_NS 10000000LL
#define MAX_TEXT (64 * 1024 * 1024)

static struct cpumask *mask_new(const char *cpus)
{
	struct cpumask *mask = NULL;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list(cpus, 8192, mask, NULL), 0);
	return mask;
}

/* A failing assertion names only the line; the last of these names the row. */
static void name_case(const char *text)
{
	fprintf(stderr, "case '%.40s'\n", text);
}

#define STAT                                         \
	"cpu  2804 1 1455 186368 354 2 35 9 100 7\n" \
	"cpu0 622 0 442 94473 7 0 7 1 0 0\n"         \
	"cpu2 2182 1 1012 91895 346 2 28 8 100 7\n"  \
	"cpu10 1 0 0 0 0 0 0 18446744073 0 0\n"

static void test_times(_unused_ void **state)
{
	static const struct {
		const char *cpus;
		const char *text;
		int r;
		int64_t busy_ticks, steal_ticks;
		unsigned n_cpus;
		int64_t idle_ticks;
	} cases[] = {
		{ "0", STAT "intr 1\n", 0, 622 + 442 + 7, 1, 1, 94480 },
		{ "2", STAT "intr 1\n", 0, 2182 + 1 + 1012 + 2 + 28, 8, 1, 92241 },
		/* CPU 1 is offline. */
		{ "0-2", STAT "intr 1\n", 0, 1071 + 3225, 9, 2, 186721 },
		{ "1", STAT "intr 1\n", -ENODEV, 0, 0, 0 },
		/* Not cpu1. */
		{ "10", STAT "intr 1\n", 0, 1, 18446744073, 1, 0 },
		{ "0,2,10,11", STAT "intr 1\n", 0, 1071 + 3225 + 1, 18446744082, 3, 186721 },
		{ "11-8000", STAT "intr 1\n", -ENODEV, 0, 0, 0 },
		/* The beginning of the file is enough once the last row is there. */
		{ "0", "cpu 1 2 3 4\ncpu0 1 2 3 4 5 6 7 8\ncpu1 1 2", 0, 1 + 2 + 3 + 6 + 7, 8, 1,
			9 },
		{ "0", "cpu 1 2 3 4\ncpu0 1 2 3 4 5 6 7 8", -EAGAIN, 0, 0, 0 },
		{ "0", "cpu 1 2 3 4\ncpu0 1", -EAGAIN, 0, 0, 0 },
		{ "0-1", "cpu 1 2 3 4\ncpu0 1 2 3 4 5 6 7 8\n", -EAGAIN, 0, 0, 0 },
		{ "0", "cp", -EAGAIN, 0, 0, 0 },
		{ "0", "", -EAGAIN, 0, 0, 0 },
		{ "1", "cpu 1 2 3 4\ncpu2 1 2 3 4 5\n", -ENODEV, 0, 0, 0 },
		/* Old kernels have fewer numbers, later ones may have more. */
		{ "0", "cpu0 1 2 3 4\n", 0, 6, 0, 1, 4 },
		{ "0", "cpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", 0, 19, 8, 1, 9 },
		{ "0", "cpu0 1 2 3\n", -EBADMSG, 0, 0, 0 },
		{ "0", "cpu0 1 2 x 4\n", -EBADMSG, 0, 0, 0 },
		{ "0", "cpu0\n", -EBADMSG, 0, 0, 0 },
		{ "0", "cpux 1 2 3 4\n", -EBADMSG, 0, 0, 0 },
		{ "0", "cpu\n", -EBADMSG, 0, 0, 0 },
		{ "0", "cpu4294967296 1 2 3 4\n", -EBADMSG, 0, 0, 0 },
		{ "0", "intr 1\n", -ENODEV, 0, 0, 0 },
		{ "0", "\n", -ENODEV, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct procstat_times times = { .busy_ns = -1, .n_cpus = 77 };
		struct cpumask *mask = mask_new(cases[i].cpus);
		size_t length = strlen(cases[i].text);
		/* Exactly as long as it says, for the sanitizer. */
		char *text = malloc(length + 1);

		assert_non_null(text);
		memcpy(text, cases[i].text, length + 1);
		name_case(text);
		assert_int_equal(
			procstat_parse_times(mask, text, length, TICK_NS, &times), cases[i].r);
		if (cases[i].r == 0) {
			assert_int_equal(times.busy_ns, cases[i].busy_ticks * TICK_NS);
			assert_int_equal(times.steal_ns, cases[i].steal_ticks * TICK_NS);
			assert_int_equal(times.idle_ns, cases[i].idle_ticks * TICK_NS);
			assert_int_equal(times.n_cpus, cases[i].n_cpus);
		} else {
			assert_int_equal(times.busy_ns, -1);
			assert_int_equal(times.n_cpus, 77);
		}
		free(text);
		cpumask_free(mask);
	}
}

static void test_each(_unused_ void **state)
{
	static const int64_t expected[][2] = { { 0, 1071 }, { 2, 3225 }, { 10, 1 } };
	const char *at = STAT "intr 1\n", *end = at + strlen(at);
	struct cpumask *mask = mask_new("0-1,2,9-11");
	struct procstat_times times;
	int cpu = -1;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(procstat_next_times(mask, &at, end, 1, &cpu, &times), 1);
		assert_int_equal(cpu, expected[i][0]);
		assert_int_equal(times.busy_ns, expected[i][1]);
		assert_int_equal(times.n_cpus, 1);
	}
	assert_int_equal(procstat_next_times(mask, &at, end, 1, &cpu, &times), 0);
	assert_string_equal(at, "intr 1\n");
	at = "cpu0 1\n";
	assert_int_equal(procstat_next_times(mask, &at, at + 7, 1, &cpu, &times), -EBADMSG);
	assert_int_equal(cpu, 10);
	assert_int_equal(times.busy_ns, 1);
	cpumask_free(mask);
}

/* All possible CPUs have a column, also those that are offline. */
#define SOFTIRQS                                                  \
	"                    CPU0       CPU1       CPU3       \n" \
	"          HI:          1          2          3\n"        \
	"       TIMER:         10         20         30\n"        \
	"      NET_TX:          0          0          0\n"        \
	"      NET_RX:       1264       1760 4294967295\n"        \
	"       BLOCK:          0      61651          1\n"        \
	"    IRQ_POLL:          0          7          0\n"        \
	"     TASKLET:          3          0          0\n"        \
	"       SCHED:      13361      13609          4\n"        \
	"     HRTIMER:          0          0          0\n"        \
	"         RCU:       8632      12479          5\n"

static void check_softirqs(const char *cpus, const char *text, int r, const uint32_t *expected)
{
	struct procstat_softirqs softirqs = { { 77 } };
	struct cpumask *mask = mask_new(cpus);

	name_case(text);
	assert_int_equal(procstat_parse_softirqs(mask, text, strlen(text), &softirqs), r);
	if (r == 0)
		assert_memory_equal(softirqs.counts, expected, sizeof(softirqs.counts));
	else
		assert_int_equal(softirqs.counts[0], 77);
	cpumask_free(mask);
}

static void test_softirqs(_unused_ void **state)
{
	static const uint32_t cpu1[] = { 2, 20, 0, 1760, 61651, 7, 0, 13609, 0, 12479 };
	/* NET_RX wraps. */
	static const uint32_t cpu13[] = { 5, 50, 0, 1759, 61652, 7, 0, 13613, 0, 12484 };
	static const uint32_t polled[] = { 0, 0, 0, 0, 0, 9, 0, 0, 0, 0 };

	check_softirqs("1", SOFTIRQS, 0, cpu1);
	check_softirqs("1-3", SOFTIRQS, 0, cpu13);
	check_softirqs("2", SOFTIRQS, -ENODEV, NULL);
	/* The name of old, a kind that nobody knows yet, no newline at the end. */
	check_softirqs("0", " CPU0\n BLOCK_IOPOLL: 9\n", 0, polled);
	check_softirqs("0", " CPU0\n FUTURE: 5\n IRQ_POLL: 9", 0, polled);
	check_softirqs("0", " CPU0\n FUTURE: 5\n", -EBADMSG, NULL);
	check_softirqs("0", " CPU0\n", -EBADMSG, NULL);
	check_softirqs("0", " CPU0", -EBADMSG, NULL);
	check_softirqs("0", "", -EBADMSG, NULL);
	check_softirqs("0", " CPU0 CPU1\n HI: 1\n", -EBADMSG, NULL);
	check_softirqs("0", " CPU0 CPU1\n HI: 1 x\n", -EBADMSG, NULL);

	assert_string_equal(procstat_softirq_name(0), "HI");
	assert_string_equal(procstat_softirq_name(3), "NET_RX");
	assert_string_equal(procstat_softirq_name(PROCSTAT_N_SOFTIRQS - 1), "RCU");
	assert_null(procstat_softirq_name(PROCSTAT_N_SOFTIRQS));
}

static void test_load(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		double load1;
		unsigned runnable;
	} cases[] = {
		{ "0.15 0.04 0.01 3/91 5347", 0, 0.15, 3 },
		{ "0.15 0.04 0.01 3/91 5347\n", 0, 0.15, 3 },
		{ "1024.00 0.04 0.01 12345/99999 1", 0, 1024, 12345 },
		{ "", -EBADMSG, 0, 0 },
		{ "0.15", -EBADMSG, 0, 0 },
		{ " 0.15 0.04 0.01 3/91 1", -EBADMSG, 0, 0 },
		{ "0.15 0.04 0.01", -EBADMSG, 0, 0 },
		{ "0.15 0.04 0.01 ", -EBADMSG, 0, 0 },
		{ "0.15 0.04 0.01 3 91", -EBADMSG, 0, 0 },
		{ "0.15 0.04 0.01 -3/91", -EBADMSG, 0, 0 },
		{ "0.15 0.04 0.01 4294967296/91", -EBADMSG, 0, 0 },
		{ "-0.15 0.04 0.01 3/91 1", -EBADMSG, 0, 0 },
		{ "nan 0.04 0.01 3/91 1", -EBADMSG, 0, 0 },
		{ "0.1555555555555555555555555555555555555555 0 0 3/9 1", -EBADMSG, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct procstat_load load = { -1, 77 };

		name_case(cases[i].text);
		assert_int_equal(procstat_parse_load(cases[i].text, &load), cases[i].r);
		assert_true(load.load1 == (cases[i].r == 0 ? cases[i].load1 : -1));
		assert_int_equal(load.runnable, cases[i].r == 0 ? cases[i].runnable : 77);
	}
}

static void test_running(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		unsigned running;
	} cases[] = {
		{ "cpu 1\nprocs_running 3\nprocs_blocked 0\n", 0, 3 },
		{ "cpu 1\nprocs_running 4294967295\n", 0, UINT_MAX },
		{ "", -EBADMSG, 0 },
		{ "cpu 1\n", -EBADMSG, 0 },
		{ "procs_running 3\n", -EBADMSG, 0 },
		{ "cpu 1\nprocs_running 3", -EBADMSG, 0 },
		{ "cpu 1\nprocs_running \n", -EBADMSG, 0 },
		{ "cpu 1\nprocs_running -3\n", -EBADMSG, 0 },
		{ "cpu 1\nprocs_running 3 4\n", -EBADMSG, 0 },
		{ "cpu 1\nprocs_running 4294967296\n", -EBADMSG, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned running = 77;

		name_case(cases[i].text);
		assert_int_equal(procstat_parse_running(cases[i].text, &running), cases[i].r);
		assert_int_equal(running, cases[i].r == 0 ? cases[i].running : 77);
	}
}

/* A reader that is given the texts. */
static void test_texts(_unused_ void **state)
{
	static const char softirqs[] = "      CPU0 CPU1 CPU2\n  RCU:    1    2    4\n";
	struct procstat *procstat = NULL;
	struct procstat_times times = { .busy_ns = -1, .n_cpus = 77 };
	struct procstat_softirqs counts;
	struct cpumask *mask = mask_new("0,2");

	assert_int_equal(procstat_new(mask, &procstat), 0);
	cpumask_free(mask);
	assert_int_equal(procstat_take_times(procstat, STAT, strlen(STAT), &times), 0);
	assert_int_equal(times.n_cpus, 2);
	/* Nothing follows it, and rows of ours might. */
	times.n_cpus = 77;
	assert_int_equal(procstat_take_times(procstat, "cpu0 1 2 3 4\n", 13, &times), -EBADMSG);
	assert_int_equal(times.n_cpus, 77);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			procstat_take_softirqs(procstat, softirqs, strlen(softirqs), &counts), 0);
		assert_int_equal(counts.counts[PROCSTAT_N_SOFTIRQS - 1], 5);
	}
	procstat_free(procstat);
}

static void read_this_machine(const struct procstat *procstat, struct procstat_times *ret)
{
	char *text = NULL;
	size_t length;

	assert_int_equal(file_read_all(PROCSTAT_STAT, MAX_TEXT, &text, &length), 0);
	assert_int_equal(procstat_take_times(procstat, text, length, ret), 0);
	free(text);
}

static void test_schedstat(void **state)
{
	static const struct {
		const char *text;
		int r;
		int64_t ran_ns, waited_ns;
	} cases[] = {
		{ "28157 1405 3\n", 0, 28157, 1405 },
		{ "28157 0 3", 0, 28157, 0 },
		/* The kernel does not keep the figures: it is not known that nothing waited. */
		{ "0 0 0\n", -ENODATA, 0, 0 },
		{ "28157 1405", -ENODATA, 0, 0 },
		{ "", -ENODATA, 0, 0 },
		{ "a b c", -ENODATA, 0, 0 },
		{ "1 18446744073709551615 1", -ERANGE, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct schedstat schedstat = { 0 };

		name_case(cases[i].text);
		assert_int_equal(schedstat_parse(cases[i].text, &schedstat), cases[i].r);
		assert_int_equal(schedstat.ran_ns, cases[i].ran_ns);
		assert_int_equal(schedstat.waited_ns, cases[i].waited_ns);
	}
}

/* This machine's own files: readings do not go backwards, and an own burst of work shows. */
static void test_this_machine(_unused_ void **state)
{
	struct procstat_times before, after;
	struct procstat_softirqs softirqs;
	struct procstat *procstat = NULL;
	struct procstat_load load;
	struct cpumask *mask = NULL;
	int64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	char *text = NULL;
	unsigned running;
	size_t length;
	int r;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_get_self(mask), 0);
	assert_int_equal(procstat_new(mask, &procstat), 0);
	read_this_machine(procstat, &before);
	assert_int_equal(before.n_cpus, cpumask_weight(mask));
	do {
		read_this_machine(procstat, &after);
	} while (after.busy_ns < before.busy_ns + 2 * tick_ns);
	assert_int_equal(after.busy_ns % tick_ns, 0);
	r = file_read_all(PROCSTAT_SOFTIRQS, MAX_TEXT, &text, &length);
	assert_int_equal(r, access("/proc/softirqs", R_OK) ? -ENOENT : 0);
	if (r == 0)
		assert_int_equal(procstat_take_softirqs(procstat, text, length, &softirqs), 0);
	free(text);
	assert_int_equal(file_read_all(PROCSTAT_LOADAVG, MAX_TEXT, &text, &length), 0);
	assert_int_equal(procstat_parse_load(text, &load), 0);
	assert_true(load.runnable >= 1);
	free(text);
	assert_int_equal(file_read_all(PROCSTAT_STAT, MAX_TEXT, &text, &length), 0);
	assert_int_equal(procstat_parse_running(text, &running), 0);
	assert_true(running >= 1);
	free(text);
	procstat_free(procstat);
	cpumask_free(mask);
	procstat_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_softirqs),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_schedstat),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests_name("procstat", tests, NULL, NULL);
}
