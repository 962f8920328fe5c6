// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "quiet/benchmark-join/queue.h"

enum {
	GREEDY = 1000,
	PATIENT = 1001,
	THIRD = 1002,
};

static struct asker asker(uid_t uid, int socket)
{
	return (struct asker){ .socket = socket, .peer = { .uid = uid, .pid = 7, .pidfd = -1 } };
}

static int add(struct queue *queue, uid_t uid, int socket)
{
	struct asker who = asker(uid, socket);

	return queue_add(queue, &who);
}

/* The socket of who is next, or the error. */
static int take(struct queue *queue, int64_t now)
{
	int64_t ready;
	struct asker who;
	int r = queue_take(queue, now, &who, &ready);

	return r < 0 ? r : who.socket;
}

static void test_nobody(void **state)
{
	static struct queue queue;

	(void)state;
	assert_int_equal(take(&queue, 0), -ENODATA);
	queue_end_turn(&queue, GREEDY, 0, 10);
	assert_int_equal(take(&queue, 5), -ENODATA);
}

static void test_in_order(void **state)
{
	static struct queue queue;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(&queue, GREEDY, i), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take(&queue, 0), i);
	assert_int_equal(take(&queue, 0), -ENODATA);
}

static void test_share(void **state)
{
	static struct queue queue;
	int n = 0;

	(void)state;
	while (add(&queue, GREEDY, n) == 0)
		n++;
	assert_int_equal(n, QUEUE_OF_USER);
	assert_int_equal(add(&queue, PATIENT, 100), 0);
	assert_int_equal(add(&queue, GREEDY, 101), -EBUSY);
	/* A place is free again. */
	assert_int_equal(take(&queue, 0), 0);
	assert_int_equal(add(&queue, GREEDY, 102), 0);
	assert_int_equal(add(&queue, GREEDY, 103), -EBUSY);
}

static void test_all_places(void **state)
{
	static struct queue queue;

	(void)state;
	for (int i = 0; i < QUEUE_MAX; i++)
		assert_int_equal(add(&queue, (uid_t)(5000 + i), i), 0);
	assert_int_equal(add(&queue, 1, 1), -EBUSY);
	for (int i = 0; i < QUEUE_MAX; i++) {
		assert_int_equal(take(&queue, 1000), i);
		queue_end_turn(&queue, (uid_t)(5000 + i), 1000, 2000);
	}
	/* More users than are remembered. */
	for (int i = 0; i < QUEUE_MAX; i++) {
		assert_int_equal(add(&queue, (uid_t)(9000 + i), i), 0);
		assert_int_equal(take(&queue, 1000), i);
		queue_end_turn(&queue, (uid_t)(9000 + i), 1000, 3000);
	}
	assert_int_equal(queue.n_users, QUEUE_MAX);
}

/* Who asks without end has every second turn beside one who asks as often, and the pause. */
static void test_turns_go_round(void **state)
{
	static struct queue queue;
	int64_t now = 1000;

	(void)state;
	for (int i = 0; i < QUEUE_OF_USER; i++)
		assert_int_equal(add(&queue, GREEDY, i), 0);
	assert_int_equal(take(&queue, now), 0);
	assert_int_equal(add(&queue, PATIENT, 100), 0);
	assert_int_equal(add(&queue, PATIENT, 101), 0);
	queue_end_turn(&queue, GREEDY, now, now + 100);
	now += 100;
	/* Who came last is next, for he had no turn yet. */
	assert_int_equal(take(&queue, now), 100);
	queue_end_turn(&queue, PATIENT, now, now + 10);
	now += 10;
	assert_int_equal(take(&queue, now), -EAGAIN);
	assert_int_equal(add(&queue, THIRD, 200), 0);
	assert_int_equal(take(&queue, now), 200);
	queue_end_turn(&queue, THIRD, now, now + 1);
	now += 1 + 10 * QUEUE_PAUSE;
	assert_int_equal(take(&queue, now), 101);
}

static void test_pause(void **state)
{
	static struct queue queue;
	struct asker who;
	int64_t ready;

	(void)state;
	assert_int_equal(add(&queue, GREEDY, 0), 0);
	assert_int_equal(add(&queue, GREEDY, 1), 0);
	assert_int_equal(take(&queue, 1000), 0);
	queue_end_turn(&queue, GREEDY, 1000, 1100);
	assert_int_equal(queue_take(&queue, 1100, &who, &ready), -EAGAIN);
	assert_int_equal(ready, 1100 + QUEUE_PAUSE * 100);
	assert_int_equal(take(&queue, ready - 1), -EAGAIN);
	assert_int_equal(take(&queue, ready), 1);
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
