// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/where/cpulist.h"

/* CPUs 0-7 can be, 0-5 are, 5 is offline. */
static struct topology *make_topology(void)
{
	struct topology *topology;

	assert_int_equal(topology_new(8, &topology), 0);
	assert_int_equal(cpumask_parse_list("0-7", 0, topology->possible, NULL), 0);
	assert_int_equal(cpumask_parse_list("0-5", 0, topology->present, NULL), 0);
	assert_int_equal(cpumask_parse_list("0-4", 0, topology->online, NULL), 0);
	return topology;
}

static void assert_cpus(const struct cpumask *cpus, const char *wanted)
{
	_cleanup_free_ char *list = cpumask_format_list(cpus);

	assert_string_equal(list, wanted);
}

static void test_parse(_unused_ void **state)
{
	static const struct {
		const char *list, *cpus, *why;
	} cases[] = {
		{ "3", "3", NULL },
		{ "1,4-5", "1,4-5", NULL },
		{ "0-3:1/2\n", "0,2", NULL },
		{ "6", NULL, "CPU 6 does not exist (present: 0-5)" },
		{ "1,7,6", NULL, "CPU 6 does not exist (present: 0-5)" },
		{ "N", NULL, "CPU 7 does not exist (present: 0-5)" },
		{ "8191", NULL, "CPU 8191 does not exist (present: 0-5)" },
		{ "", NULL, "'' names no CPU" },
		{ " ", NULL, "' ' names no CPU" },
		{ "x", NULL,
			"'x' is not a CPU list: unexpected 'x' at character 1: "
			"a CPU number must stand here" },
	};
	_cleanup_(topology) struct topology *topology = make_topology();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(cpumask) struct cpumask *cpus = NULL;
		_cleanup_free_ char *why = NULL;
		int r;

		assert_int_equal(cpumask_new(&cpus), 0);
		assert_int_equal(cpumask_set(cpus, 7), 0);
		r = cpulist_parse(cases[i].list, topology, cpus, &why);
		if (cases[i].cpus) {
			assert_int_equal(r, 0);
			assert_null(why);
			assert_cpus(cpus, cases[i].cpus);
		} else {
			assert_int_equal(r, -EINVAL);
			assert_string_equal(why, cases[i].why);
			assert_cpus(cpus, "7");
		}
	}
}

static void test_numbers_that_no_mask_holds(_unused_ void **state)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *why = NULL;

	assert_int_equal(cpumask_new(&cpus), 0);
	assert_int_equal(cpulist_parse_list("8192", 0, cpus, &why), -EINVAL);
	assert_non_null(why);
	/* Whether a CPU exists is another question. */
	assert_int_equal(cpulist_parse_list("8191", 0, cpus, NULL), 0);
	assert_cpus(cpus, "8191");
}

static void test_online(_unused_ void **state)
{
	static const struct {
		const char *list, *why;
	} cases[] = {
		{ "", NULL },
		{ "0-4", NULL },
		{ "3-5", "CPU 5 is offline (online: 0-4)" },
		{ "5-6", "CPU 6 does not exist (present: 0-5)" },
	};
	_cleanup_(topology) struct topology *topology = make_topology();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(cpumask) struct cpumask *cpus = NULL;
		_cleanup_free_ char *why = NULL;
		int r;

		assert_int_equal(cpumask_new(&cpus), 0);
		assert_int_equal(cpumask_parse_list(cases[i].list, 0, cpus, NULL), 0);
		r = cpulist_check_online(topology, cpus, &why);
		if (cases[i].why) {
			assert_int_equal(r, -EINVAL);
			assert_string_equal(why, cases[i].why);
		} else {
			assert_int_equal(r, 0);
			assert_null(why);
		}
	}
}

static void test_denied(_unused_ void **state)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *why = NULL;
	int cpu = -1;

	assert_int_equal(cpumask_new(&cpus), 0);
	assert_int_equal(cpumask_get_self(cpus), 0);
	assert_int_equal(cpulist_find_denied(cpus, &cpu, &why), 0);
	assert_int_equal(cpu, -1);
	assert_null(why);
	/* No machine has this CPU. */
	assert_int_equal(cpumask_set(cpus, CPUMASK_CAPACITY - 1), 0);
	assert_int_equal(cpulist_find_denied(cpus, &cpu, &why), 1);
	assert_int_equal(cpu, CPUMASK_CAPACITY - 1);
	assert_true(text_starts_with(why, "CPU 8191 is not allowed here: "));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_numbers_that_no_mask_holds),
		cmocka_unit_test(test_online),
		cmocka_unit_test(test_denied),
	};

	return cmocka_run_group_tests_name("cpuchoice", tests, NULL, NULL);
}
