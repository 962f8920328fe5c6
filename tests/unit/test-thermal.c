// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/machine/thermal.h"
#include "base/macro.h"
#include "config.h"

#include "fake-machine.h"

static void test_rank(_unused_ void **state)
{
	/* Best first; what has the same group is of one rank. */
	static const struct {
		const char *chip;
		const char *label;
		int package;
		int group; /* 0: no sensor of a CPU */
		bool foreign;
	} cases[] = {
		{ "coretemp", "Package id 0", 0, 7, false },
		{ "coretemp", "Package id 1", 0, 7, true },
		{ "coretemp", "Package id 10", 1, 7, true },
		{ "coretemp", "Package id 0", -1, 7, true },
		{ "k10temp", "Tdie", 0, 6, false },
		{ "zenpower", "Tdie", -1, 6, false },
		{ "k10temp", "Tctl", 0, 5, false },
		{ "k10temp", "temp1", 0, 5, false },
		{ "coretemp", "Core 0", 0, 4, false },
		{ "cpu_thermal", "temp1", 0, 3, false },
		{ "cpu0_thermal", "temp1", 0, 3, false },
		{ "soc_thermal", "temp1", 0, 2, false },
		{ "acpitz", "temp1", 0, 1, false },
		{ "coretemp", "Package id ", 0, 0, false },
		{ "coretemp", "Package id 0x", 0, 0, false },
		{ "coretemp", "Package id -1", 0, 0, false },
		{ "coretemp", "temp1", 0, 0, false },
		{ "coretemp", "", 0, 0, false },
		{ "k10temp", "Tccd1", 0, 0, false },
		{ "cpu", "temp1", 0, 0, false },
		{ "gpu_thermal", "temp1", 0, 0, false },
		{ "nvme", "Composite", 0, 0, false },
		{ "", "", 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool foreign = !cases[i].foreign;
		int rank = thermal_rank(cases[i].chip, cases[i].label, cases[i].package, &foreign);

		fprintf(stderr, "case '%s' '%s'\n", cases[i].chip, cases[i].label);
		assert_int_equal(rank, cases[i].group);
		assert_int_equal(foreign, cases[i].foreign);
	}
}

static void write_sensor(int hwmon, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/%s", hwmon, file);
	assert_true(fake_machine_write(path, text));
}

static void write_package(int cpu, const char *package)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		cpu);
	assert_true(fake_machine_write(path, package));
}

/* Opens, checks what was found, and reads. */
static void check(
	int cpu, const char *chip, const char *label, double celsius, double high, double critical)
{
	struct thermal *thermal = NULL;
	const struct thermal_info *info;
	double got = -300;

	assert_int_equal(thermal_open(cpu, &thermal), 0);
	info = thermal_get_info(thermal);
	assert_string_equal(info->chip, chip);
	assert_string_equal(info->label, label);
	assert_true(isnan(high) ? isnan(info->high) : info->high == high);
	assert_true(isnan(critical) ? isnan(info->critical) : info->critical == critical);
	assert_int_equal(thermal_read(thermal, &got), 0);
	assert_true(got == celsius);
	thermal_free(thermal);
}

static void check_none(int cpu)
{
	struct thermal *thermal = NULL;

	assert_int_equal(thermal_open(cpu, &thermal), -ENOENT);
	assert_null(thermal);
}

static void test_no_sensor(_unused_ void **state)
{
	check_none(0);
	write_sensor(0, "name", "nvme\n");
	write_sensor(0, "temp1_input", "40850\n");
	write_sensor(0, "temp1_label", "Composite\n");
	write_sensor(1, "name", "coretemp\n");
	write_sensor(1, "in0_input", "1000\n");
	check_none(0);
	thermal_free(NULL);
}

static void test_intel(_unused_ void **state)
{
	struct thermal *thermal = NULL;
	double celsius;

	write_package(0, "0\n");
	write_sensor(0, "name", "acpitz\n");
	write_sensor(0, "temp1_input", "27800\n");
	write_sensor(3, "name", "coretemp\n");
	write_sensor(3, "temp2_label", "Core 0\n");
	write_sensor(3, "temp2_input", "48000\n");
	write_sensor(3, "temp1_label", "Package id 0\n");
	write_sensor(3, "temp1_input", "51000\n");
	write_sensor(3, "temp1_max", "80000\n");
	write_sensor(3, "temp1_crit", "100000\n");
	check(0, "coretemp", "Package id 0", 51, 80, 100);

	/* A kept reader follows the file, below zero and through errors. */
	assert_int_equal(thermal_open(0, &thermal), 0);
	write_sensor(3, "temp1_input", "-5500\n");
	assert_int_equal(thermal_read(thermal, &celsius), 0);
	assert_true(celsius == -5.5);
	write_sensor(3, "temp1_input", "hot\n");
	assert_int_equal(thermal_read(thermal, &celsius), -EINVAL);
	write_sensor(3, "temp1_input", "");
	assert_int_equal(thermal_read(thermal, &celsius), -EINVAL);
	assert_true(celsius == -5.5);
	assert_string_equal(thermal_get_info(thermal)->path, "/sys/class/hwmon/hwmon3/temp1_input");
	thermal_free(thermal);
}

static void test_old_intel(_unused_ void **state)
{
	write_sensor(0, "name", "coretemp\n");
	write_sensor(0, "temp2_label", "Core 0\n");
	write_sensor(0, "temp2_input", "48000\n");
	write_sensor(0, "temp2_crit", "0\n");
	write_sensor(0, "temp3_label", "Core 1\n");
	write_sensor(0, "temp3_input", "49000\n");
	check(1, "coretemp", "Core 0", 48, NAN, NAN);
}

static void test_two_packages(_unused_ void **state)
{
	write_package(0, "0\n");
	write_package(1, "1\n");
	write_package(2, "5\n");
	for (int i = 0; i < 2; i++) {
		write_sensor(i, "name", "coretemp\n");
		write_sensor(i, "temp1_label", i ? "Package id 1\n" : "Package id 0\n");
		write_sensor(i, "temp1_input", i ? "61000\n" : "51000\n");
	}
	check(0, "coretemp", "Package id 0", 51, NAN, NAN);
	check(1, "coretemp", "Package id 1", 61, NAN, NAN);
	/* Neither of the two, or nobody knows. */
	check_none(2);
	check_none(3);
	/* A single one needs no number. */
	fake_machine_clear("/sys/class/");
	write_sensor(1, "name", "coretemp\n");
	write_sensor(1, "temp1_label", "Package id 1\n");
	write_sensor(1, "temp1_input", "61000\n");
	check(2, "coretemp", "Package id 1", 61, NAN, NAN);
	check(3, "coretemp", "Package id 1", 61, NAN, NAN);
}

static void test_amd(_unused_ void **state)
{
	write_package(0, "0\n");
	write_package(64, "1\n");
	write_package(65, "1\n");
	for (int i = 0; i < 2; i++) {
		write_sensor(i, "name", "k10temp\n");
		write_sensor(i, "temp1_label", "Tctl\n");
		write_sensor(i, "temp1_input", i ? "62125\n" : "72125\n");
		write_sensor(i, "temp3_label", "Tccd1\n");
		write_sensor(i, "temp3_input", "90000\n");
		write_sensor(i, "device/local_cpulist", i ? "64-127\n" : "0-63\n");
	}
	check(0, "k10temp", "Tctl", 72.125, NAN, NAN);
	check(64, "k10temp", "Tctl", 62.125, NAN, NAN);
	/* A chip near a part of the package only is near all of it. */
	write_sensor(1, "device/local_cpulist", "64\n");
	check(65, "k10temp", "Tctl", 62.125, NAN, NAN);
	/* Without the control value's offset. */
	write_sensor(1, "temp2_label", "Tdie\n");
	write_sensor(1, "temp2_input", "52125\n");
	check(64, "k10temp", "Tdie", 52.125, NAN, NAN);
}

static void test_arm(_unused_ void **state)
{
	write_sensor(0, "name", "acpitz\n");
	write_sensor(0, "temp1_input", "27800\n");
	check(0, "acpitz", "temp1", 27.8, NAN, NAN);
	write_sensor(1, "name", "soc_thermal\n");
	write_sensor(1, "temp1_input", "44000\n");
	check(0, "soc_thermal", "temp1", 44, NAN, NAN);
	write_sensor(2, "name", "cpu_thermal\n");
	write_sensor(2, "temp1_input", "45000\n");
	write_sensor(2, "temp1_crit", "110000\n");
	check(0, "cpu_thermal", "temp1", 45, NAN, 110);
}

static void test_not_built(_unused_ void **state)
{
	struct thermal *thermal = NULL;

	write_sensor(0, "name", "acpitz\n");
	write_sensor(0, "temp1_input", "27800\n");
	assert_int_equal(thermal_open(0, &thermal), -EOPNOTSUPP);
	assert_null(thermal);
}

int main(void)
{
	const struct CMUnitTest with_libsensors[] = {
		cmocka_unit_test(test_rank),
		cmocka_unit_test_setup(test_no_sensor, fake_machine_setup),
		cmocka_unit_test_setup(test_intel, fake_machine_setup),
		cmocka_unit_test_setup(test_old_intel, fake_machine_setup),
		cmocka_unit_test_setup(test_two_packages, fake_machine_setup),
		cmocka_unit_test_setup(test_amd, fake_machine_setup),
		cmocka_unit_test_setup(test_arm, fake_machine_setup),
	};
	const struct CMUnitTest without[] = {
		cmocka_unit_test(test_rank),
		cmocka_unit_test_setup(test_not_built, fake_machine_setup),
	};

	if (!fake_machine_enter())
		return 0;
	if (HAVE_LIBSENSORS)
		return cmocka_run_group_tests_name("thermal", with_libsensors, NULL, NULL);
	return cmocka_run_group_tests_name("thermal", without, NULL, NULL);
}
