// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "benchmark-join/turns.h"

enum {
	GREEDY = 1000,
	PATIENT = 1001,
	THIRD = 1002,
};

static struct asker asker(uid_t uid, int socket)
{
	return (struct asker){ .socket = socket, .peer = { .uid = uid, .pid = 7, .pidfd = -1 } };
}

static int add(struct turns *turns, uid_t uid, int socket)
{
	struct asker who = asker(uid, socket);

	return turns_add(turns, &who);
}

/* The socket of who is next, or the error. */
static int take(struct turns *turns, int64_t now)
{
	int64_t ready;
	struct asker who;
	int r = turns_take(turns, now, &who, &ready);

	return r < 0 ? r : who.socket;
}

static void test_nobody(void **state)
{
	static struct turns turns;

	(void)state;
	assert_int_equal(take(&turns, 0), -ENODATA);
	turns_end(&turns, GREEDY, 0, 10);
	assert_int_equal(take(&turns, 5), -ENODATA);
}

static void test_in_order(void **state)
{
	static struct turns turns;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(&turns, GREEDY, i), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take(&turns, 0), i);
	assert_int_equal(take(&turns, 0), -ENODATA);
}

static void test_share(void **state)
{
	static struct turns turns;
	int n = 0;

	(void)state;
	while (add(&turns, GREEDY, n) == 0)
		n++;
	assert_int_equal(n, TURNS_OF_USER);
	assert_int_equal(add(&turns, PATIENT, 100), 0);
	assert_int_equal(add(&turns, GREEDY, 101), -EBUSY);
	/* A place is free again. */
	assert_int_equal(take(&turns, 0), 0);
	assert_int_equal(add(&turns, GREEDY, 102), 0);
	assert_int_equal(add(&turns, GREEDY, 103), -EBUSY);
}

static void test_all_places(void **state)
{
	static struct turns turns;

	(void)state;
	for (int i = 0; i < TURNS_MAX; i++)
		assert_int_equal(add(&turns, (uid_t)(5000 + i), i), 0);
	assert_int_equal(add(&turns, 1, 1), -EBUSY);
	for (int i = 0; i < TURNS_MAX; i++) {
		assert_int_equal(take(&turns, 1000), i);
		turns_end(&turns, (uid_t)(5000 + i), 1000, 2000);
	}
	/* More users than are remembered. */
	for (int i = 0; i < TURNS_MAX; i++) {
		assert_int_equal(add(&turns, (uid_t)(9000 + i), i), 0);
		assert_int_equal(take(&turns, 1000), i);
		turns_end(&turns, (uid_t)(9000 + i), 1000, 3000);
	}
	assert_int_equal(turns.n_users, TURNS_MAX);
}

/* Who asks without end has every second turn beside one who asks as often, and the pause. */
static void test_turns_go_round(void **state)
{
	static struct turns turns;
	int64_t now = 1000;

	(void)state;
	for (int i = 0; i < TURNS_OF_USER; i++)
		assert_int_equal(add(&turns, GREEDY, i), 0);
	assert_int_equal(take(&turns, now), 0);
	assert_int_equal(add(&turns, PATIENT, 100), 0);
	assert_int_equal(add(&turns, PATIENT, 101), 0);
	turns_end(&turns, GREEDY, now, now + 100);
	now += 100;
	/* Who came last is next, for he had no turn yet. */
	assert_int_equal(take(&turns, now), 100);
	turns_end(&turns, PATIENT, now, now + 10);
	now += 10;
	assert_int_equal(take(&turns, now), -EAGAIN);
	assert_int_equal(add(&turns, THIRD, 200), 0);
	assert_int_equal(take(&turns, now), 200);
	turns_end(&turns, THIRD, now, now + 1);
	now += 1 + 10 * TURNS_PAUSE;
	assert_int_equal(take(&turns, now), 101);
}

static void test_pause(void **state)
{
	static struct turns turns;
	struct asker who;
	int64_t ready;

	(void)state;
	assert_int_equal(add(&turns, GREEDY, 0), 0);
	assert_int_equal(add(&turns, GREEDY, 1), 0);
	assert_int_equal(take(&turns, 1000), 0);
	turns_end(&turns, GREEDY, 1000, 1100);
	assert_int_equal(turns_take(&turns, 1100, &who, &ready), -EAGAIN);
	assert_int_equal(ready, 1100 + TURNS_PAUSE * 100);
	assert_int_equal(take(&turns, ready - 1), -EAGAIN);
	assert_int_equal(take(&turns, ready), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_all_places),
		cmocka_unit_test(test_turns_go_round),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
