// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine/cpuidle.h"
#include "base/macro.h"
#include "config.h"

#include "fake-machine.h"

static void write_state(unsigned state, const char *file, const char *text)
{
	char path[CPUIDLE_PATH_SIZE];

	assert_true(fake_machine_write(cpuidle_path(3, state, file, path), text));
}

static void write_states(void)
{
	static const struct {
		const char *name, *latency, *disable, *usage;
	} states[] = {
		{ "POLL\n", "0\n", "0\n", "0\n" },
		{ "C1\n", "2\n", "0\n", "4321\n" },
		{ "C6\n", "133\n", "1\n", "99\n" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(states); i++) {
		write_state(i, "name", states[i].name);
		write_state(i, "latency", states[i].latency);
		write_state(i, "disable", states[i].disable);
		write_state(i, "usage", states[i].usage);
	}
}

static void test_none(_unused_ void **state)
{
	struct cpuidle cpuidle = { .n = 77 };

	assert_int_equal(cpuidle_read(3, &cpuidle), -ENOENT);
	assert_int_equal(cpuidle.n, 77);
}

#if HAVE_LIBCPUPOWER
static void remove_file(unsigned state, const char *file)
{
	char path[CPUIDLE_PATH_SIZE];

	assert_int_equal(unlink(cpuidle_path(3, state, file, path)), 0);
}

static void test_states(_unused_ void **state)
{
	struct cpuidle cpuidle;
	uint64_t usage;

	write_states();
	/* The library takes this for its own. */
	errno = ERANGE;
	assert_int_equal(cpuidle_read(3, &cpuidle), 0);
	assert_int_equal(cpuidle.n, 3);
	assert_false(cpuidle.unread);
	assert_string_equal(cpuidle.states[0].name, "POLL");
	assert_true(cpuidle.states[0].polling);
	assert_int_equal(cpupower_read_idle_usage(3, 0, &usage), 0);
	assert_int_equal(usage, 0);
	assert_string_equal(cpuidle.states[1].name, "C1");
	assert_false(cpuidle.states[1].polling || cpuidle.states[1].disabled);
	assert_int_equal(cpuidle.states[1].latency_us, 2);
	errno = ERANGE;
	assert_int_equal(cpupower_read_idle_usage(3, 1, &usage), 0);
	assert_int_equal(usage, 4321);
	assert_int_equal(cpuidle.states[2].latency_us, 133);
	assert_true(cpuidle.states[2].disabled);
	assert_ptr_equal(cpuidle_find_halt(&cpuidle), &cpuidle.states[1]);
}

/* The library's 0 is the kernel's 0, or a failure. */
static void test_unknown_is_not_zero(_unused_ void **state)
{
	static const char *const odd[] = { "", "\n", "x\n", "-1\n", "<unknown>\n",
		"99999999999999999999\n" };
	struct cpuidle cpuidle;
	uint64_t usage;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		fprintf(stderr, "case %zu\n", i);
		write_states();
		write_state(1, "usage", odd[i]);
		assert_int_equal(cpuidle_read(3, &cpuidle), 0);
		assert_false(cpuidle.unread);
		assert_true(cpupower_read_idle_usage(3, 1, &usage) < 0);
		write_states();
		write_state(2, "disable", odd[i]);
		assert_int_equal(cpuidle_read(3, &cpuidle), 0);
		assert_true(cpuidle.unread);
		assert_int_equal(cpuidle.n, 3);
		write_states();
		write_state(1, "latency", odd[i]);
		assert_int_equal(cpuidle_read(3, &cpuidle), 0);
		assert_true(cpuidle.unread);
		assert_int_equal(cpuidle.n, 1);
		write_state(0, "latency", odd[i]);
		assert_int_equal(cpuidle_read(3, &cpuidle), -EBADMSG);
	}
}

/* A file that does not exist is no failure. */
static void test_missing(_unused_ void **state)
{
	struct cpuidle cpuidle;
	uint64_t usage;

	write_states();
	remove_file(2, "disable");
	remove_file(2, "usage");
	remove_file(1, "name");
	assert_int_equal(cpuidle_read(3, &cpuidle), 0);
	assert_false(cpuidle.unread || cpuidle.states[2].disabled);
	assert_int_equal(cpupower_read_idle_usage(3, 2, &usage), -ENOENT);
	assert_string_equal(cpuidle.states[1].name, "");
	write_state(1, "name", "a name that is longer than the kernel's can be\n");
	assert_int_equal(cpuidle_read(3, &cpuidle), -EFBIG);
}
#else
static void test_without_library(_unused_ void **state)
{
	struct cpuidle cpuidle = { .n = 77 };

	write_states();
	assert_int_equal(cpuidle_read(3, &cpuidle), -EOPNOTSUPP);
	assert_int_equal(cpuidle.n, 77);
}
#endif

static void test_limit(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		int64_t us;
	} cases[] = {
		{ "0\n", 0, CPUIDLE_NO_LIMIT },
		{ "n/a\n", 0, 0 },
		{ "85\n", 0, 85 },
		{ "x\n", -EINVAL, 77 },
		{ "2147483648\n", -EINVAL, 77 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t us = 77;

		assert_true(fake_machine_write(
			"/sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us",
			cases[i].text));
		assert_int_equal(cpuidle_read_limit(3, &us), cases[i].r);
		assert_int_equal(us, cases[i].us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_none, fake_machine_setup),
#if HAVE_LIBCPUPOWER
		cmocka_unit_test_setup(test_states, fake_machine_setup),
		cmocka_unit_test_setup(test_unknown_is_not_zero, fake_machine_setup),
		cmocka_unit_test_setup(test_missing, fake_machine_setup),
#else
		cmocka_unit_test_setup(test_without_library, fake_machine_setup),
#endif
		cmocka_unit_test_setup(test_limit, fake_machine_setup),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("cpuidle", tests, NULL, NULL);
}
