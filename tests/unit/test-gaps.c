// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "look/isol-check/gaps.h"

static int setup(void **state)
{
	*state = gaps_new();
	return 0;
}

static int teardown(void **state)
{
	gaps_free(*state);
	return 0;
}

/* Readings every 25 ns from 1000000 on, with gaps before some of them. */
static void read_clock(struct gaps *gaps, const struct gap *wanted, size_t n, int64_t end)
{
	int64_t last = 1000000, now;

	gaps->step = 25;
	gaps->began = last;
	while (last < gaps->began + end) {
		now = last + 25;
		if (n > 0 && now - gaps->began > wanted->at) {
			now = last + wanted->length;
			wanted++;
			n--;
		}
		gaps_read(gaps, last, now);
		gaps->n_readings++;
		last = now;
	}
	gaps->ended = last;
}

static void test_calibrate(void **state)
{
	int64_t differences[GAPS_CALIBRATION];
	struct gaps *gaps = *state;

	for (int i = 0; i < GAPS_CALIBRATION; i++)
		differences[i] = i % 100 == 0 ? 500000 : 20 + i % 3;
	gaps_calibrate(gaps, differences);
	assert_int_equal(gaps->step, 21);
	assert_int_equal(gaps->threshold, GAPS_SHORTEST_NS);

	/* A clock that is read by a system call. */
	for (int i = 0; i < GAPS_CALIBRATION; i++)
		differences[i] = 800;
	gaps_calibrate(gaps, differences);
	assert_int_equal(gaps->threshold, 8000);

	/* One that moves rarely. */
	for (int i = 0; i < GAPS_CALIBRATION; i++)
		differences[i] = i % 10 == 0 ? 1000 : 0;
	gaps_calibrate(gaps, differences);
	assert_int_equal(gaps->step, 1);
	assert_int_equal(gaps->threshold, GAPS_SHORTEST_NS);
}

static void test_none(void **state)
{
	struct gaps *gaps = *state;

	assert_true(gaps_share(gaps) == 0 && gaps_per_second(gaps) == 0);
	read_clock(gaps, NULL, 0, 1000000);
	assert_int_equal(gaps->n, 0);
	assert_int_equal(gaps->n_readings, 40000);
	assert_int_equal(gaps->total, 0);
	assert_int_equal(gaps->longest.length, 0);
	assert_true(gaps_share(gaps) == 0);
}

static void test_found(void **state)
{
	static const struct gap wanted[] = {
		{ 1000, 999 }, /* too short to be one */
		{ 5000, 1000 },
		{ 10000, 1999 },
		{ 20000, 2000 },
		{ 30000, 4025 },
		{ 100000, 750000 },
		{ 900000, 1025 },
	};
	struct gaps *gaps = *state;

	read_clock(gaps, wanted, 7, 1000000);
	assert_int_equal(gaps->n, 6);
	assert_int_equal(gaps->total, 1000 + 1999 + 2000 + 4025 + 750000 + 1025 - 6 * 25);
	assert_int_equal(gaps->bins[0], 3);
	assert_int_equal(gaps->bins[1], 1);
	assert_int_equal(gaps->bins[2], 1);
	assert_int_equal(gaps->bins[9], 1); /* 512 us */
	assert_int_equal(gaps_bin_us(9), 512);
	assert_int_equal(gaps->longest.length, 750000);
	assert_true(gaps->longest.at >= 99975 && gaps->longest.at <= 100025);
	assert_int_equal(gaps->n_kept, 6);
	assert_int_equal(gaps->kept[0].length, 1000);
	assert_int_equal(gaps->kept[5].length, 1025);
	assert_int_equal(gaps->n_dropped, 0);
	assert_true(gaps_share(gaps) > 0.75 && gaps_share(gaps) < 0.77);
	assert_true(gaps_per_second(gaps) > 5900 && gaps_per_second(gaps) < 6000);
}

/* The last bin has no end. */
static void test_long(void **state)
{
	struct gaps *gaps = *state;

	gaps_read(gaps, 0, INT64_C(1048576000));
	gaps_read(gaps, 0, INT64_C(100000000000));
	gaps_read(gaps, 0, INT64_C(1048575999));
	assert_int_equal(gaps->bins[GAPS_BINS - 1], 2);
	assert_int_equal(gaps->bins[GAPS_BINS - 2], 1);
}

/* Beyond the room there is for them, gaps are counted all the same. */
static void test_overflow(void **state)
{
	struct gaps *gaps = *state;

	for (int64_t i = 1; i <= GAPS_KEPT_MAX + 10; i++)
		gaps_read(gaps, i * 10000, i * 10000 + 2000);
	gaps_read(gaps, 0, 3000000);
	assert_int_equal(gaps->n, GAPS_KEPT_MAX + 11);
	assert_int_equal(gaps->n_kept, GAPS_KEPT_MAX);
	assert_int_equal(gaps->n_dropped, 11);
	assert_int_equal(gaps->bins[1], GAPS_KEPT_MAX + 10);
	assert_int_equal(gaps->longest.length, 3000000);
}

static void test_backwards(void **state)
{
	struct gaps *gaps = *state;

	gaps_read(gaps, 1000, 1000);
	gaps_read(gaps, 1000, 999);
	gaps_read(gaps, 1000000, 0);
	assert_int_equal(gaps->n_backwards, 2);
	assert_int_equal(gaps->n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calibrate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_backwards, setup, teardown),
	};

	return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
