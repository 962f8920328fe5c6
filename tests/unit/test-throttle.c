// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine/throttle.h"
#include "base/macro.h"

#include "fake-machine.h"

#define CPU "/sys/devices/system/cpu/"

static int throttle_open_list(const char *cpus, struct throttle **ret)
{
	struct cpumask *mask = NULL;
	int r;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list(cpus, 8192, mask, NULL), 0);
	r = throttle_open(mask, ret);
	cpumask_free(mask);
	return r;
}

static void write_counts(int cpu, const char *core, const char *package)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "cpu%d/thermal_throttle/core_throttle_count", cpu);
	assert_true(fake_machine_write(path, core));
	snprintf(path, sizeof(path), CPU "cpu%d/thermal_throttle/package_throttle_count", cpu);
	assert_true(fake_machine_write(path, package));
}

static void check(struct throttle *throttle, uint64_t core, uint64_t package)
{
	struct throttle_counts counts = { 0 };

	assert_int_equal(throttle_read_largest(throttle, &counts), 0);
	assert_int_equal(counts.core, core);
	assert_int_equal(counts.package, package);
}

/* Somebody else read the files of CPUs 0 and 12. */
static void check_texts(const struct throttle *throttle)
{
	struct throttle_counts counts = { .core = 1000, .package = 2000 };
	char path[128], wanted[128];

	assert_int_equal(throttle_count(throttle), 4);
	for (size_t i = 0; i < 4; i++) {
		throttle_path(throttle, i, path, sizeof(path));
		snprintf(wanted, sizeof(wanted),
			"/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count",
			i < 2 ? 0 : 12, i % 2 == 0 ? "core" : "package");
		assert_string_equal(path, wanted);
		assert_int_equal(
			throttle_add(throttle, i, i % 2 == 0 ? "3\n" : "40\n", &counts), 0);
	}
	assert_int_equal(throttle_add(throttle, 0, "", &counts), -ENODATA);
	assert_int_equal(throttle_add(throttle, 0, "x\n", &counts), -EINVAL);
	assert_int_equal(counts.core, 1006);
	assert_int_equal(counts.package, 2080);
}

static void test_largest(_unused_ void **state)
{
	struct throttle *throttle = NULL;

	write_counts(0, "1\n", "100\n");
	write_counts(1, "2\n", "200\n");
	write_counts(12, "4\n", "400\n");
	assert_int_equal(throttle_open_list("0,12", &throttle), 0);
	check(throttle, 4, 400);
	check_texts(throttle);
	write_counts(12, "6\n", "18446744073709551000\n");
	check(throttle, 6, 18446744073709551000u);
	throttle_free(throttle);
	/* Parts with one counter only have the core's. */
	assert_true(fake_machine_write(CPU "cpu3/thermal_throttle/core_throttle_count", "9\n"));
	assert_int_equal(throttle_open_list("3-5", &throttle), 0);
	check(throttle, 9, 0);
	throttle_free(throttle);
	throttle_free(NULL);
}

static void test_absent(_unused_ void **state)
{
	struct throttle *throttle = NULL;

	assert_int_equal(throttle_open_list("0-63", &throttle), -ENOENT);
	assert_int_equal(throttle_open_list("", &throttle), -ENOENT);
	/* Pentium 4 of old: another file. */
	assert_true(fake_machine_write(CPU "cpu0/thermal_throttle/count", "9\n"));
	assert_int_equal(throttle_open_list("0", &throttle), -ENOENT);
	assert_null(throttle);
}

static void test_goes_away(_unused_ void **state)
{
	struct throttle_counts counts = { .core = 77 };
	struct throttle *throttle = NULL;

	write_counts(0, "1\n", "100\n");
	write_counts(1, "2\n", "200\n");
	assert_int_equal(throttle_open_list("0-1", &throttle), 0);
	write_counts(1, "", "");
	assert_int_equal(throttle_read_largest(throttle, &counts), -ENODATA);
	write_counts(1, "many\n", "1\n");
	assert_int_equal(throttle_read_largest(throttle, &counts), -EINVAL);
	assert_int_equal(counts.core, 77);
	write_counts(1, "3\n", "201\n");
	check(throttle, 3, 201);
	throttle_free(throttle);
}

/* More CPUs than descriptors are kept for. */
static void test_many(_unused_ void **state)
{
	struct throttle_counts counts;
	struct throttle *throttle = NULL;

	for (int cpu = 0; cpu < 600; cpu++)
		write_counts(cpu, "1\n", "2\n");
	assert_int_equal(throttle_open_list("0-599", &throttle), 0);
	check(throttle, 1, 2);
	write_counts(599, "11\n", "12\n");
	check(throttle, 11, 12);
	assert_int_equal(unlink(CPU "cpu599/thermal_throttle/core_throttle_count"), 0);
	assert_int_equal(throttle_read_largest(throttle, &counts), -ENODATA);
	throttle_free(throttle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_largest, fake_machine_setup),
		cmocka_unit_test_setup(test_absent, fake_machine_setup),
		cmocka_unit_test_setup(test_goes_away, fake_machine_setup),
		cmocka_unit_test_setup(test_many, fake_machine_setup),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("throttle", tests, NULL, NULL);
}
