// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "base/macro.h"
#include "fake-ring.h"
#include "measure/tree.h"

enum {
	THREAD = CHILD + 1,
	PROCESS = CHILD + 2,
	BEGIN = 1000,
};

static void put_in(struct ring *ring, uint32_t tid, uint64_t time, uint32_t cpu)
{
	put_record(ring, PERF_RECORD_SWITCH, 0, "", 0, tid, time, cpu);
}

/* Gives up the CPU: sleeps. */
static void put_out(struct ring *ring, uint32_t tid, uint64_t time, uint32_t cpu)
{
	put_record(ring, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, "", 0, tid, time, cpu);
}

static void put_preempted(struct ring *ring, uint32_t tid, uint64_t time, uint32_t cpu)
{
	put_record(ring, PERF_RECORD_SWITCH,
		PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, "", 0, tid, time,
		cpu);
}

static struct tree parse(const struct ring *rings, size_t n)
{
	const struct window window = { .exec_ns = BEGIN, .cpu_exec = 0, .n_exec = 1 };
	struct records records[2];
	struct tree tree;

	for (size_t i = 0; i < n; i++)
		records[i] = ring_records(&rings[i]);
	tree_parse(records, n, CHILD, &window, &tree);
	return tree;
}

static void test_one_task(void **state)
{
	struct ring ring = { 0 };
	struct tree tree;

	(void)state;
	put_preempted(&ring, CHILD, 2000, 0);
	put_in(&ring, CHILD, 2300, 0);
	put_out(&ring, CHILD, 3000, 0); /* sleeps, which is no waiting */
	put_in(&ring, CHILD, 4000, 0);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 5000, 0);
	tree = parse(&ring, 1);
	assert_int_equal(tree.waited_ns, 300);
	assert_int_equal(tree.leader_waited_ns, 300);
	assert_int_equal(tree.leader_gap_ns, 1000);
	assert_int_equal(tree.ran_ns, 1000 + 700 + 1000);
	assert_int_equal(tree.exit_ns, 5000);
	assert_int_equal(tree.n_tasks, 1);
	assert_int_equal(tree.n_ended, 1);
	assert_int_equal(tree.n_threads, 0);
	assert_int_equal(tree.n_migrations, 0);
	assert_int_equal(tree.n_lost, 0);
}

/* While another task of the program runs, nobody from outside has the CPU. */
static void test_tasks_wait_for_each_other(void **state)
{
	struct ring ring = { 0 };
	struct tree tree;

	(void)state;
	put_task(&ring, PERF_RECORD_FORK, CHILD, THREAD, 2000, 0);
	put_preempted(&ring, CHILD, 3000, 0);
	put_in(&ring, THREAD, 3000, 0);
	put_preempted(&ring, THREAD, 6000, 0);
	/* Now both wait, for 500. */
	put_in(&ring, CHILD, 6500, 0);
	put_out(&ring, CHILD, 7000, 0);
	put_in(&ring, THREAD, 7000, 0);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, THREAD, 8000, 0);
	put_in(&ring, CHILD, 8100, 0);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 9000, 0);
	tree = parse(&ring, 1);
	assert_int_equal(tree.waited_ns, 500);
	assert_int_equal(tree.leader_waited_ns, 3500);
	assert_int_equal(tree.n_tasks, 2);
	assert_int_equal(tree.ran_ns, 2000 + 3000 + 500 + 1000 + 900);
}

/* The main thread ends before the other one. */
static void test_end_of_the_last_thread(void **state)
{
	struct ring ring = { 0 };
	struct tree tree;

	(void)state;
	put_task(&ring, PERF_RECORD_FORK, CHILD, THREAD, 2000, 0);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 3000, 0);
	put_in(&ring, THREAD, 3100, 0);
	assert_int_equal(parse(&ring, 1).n_threads, 1);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, THREAD, 9000, 1);
	tree = parse(&ring, 1);
	assert_int_equal(tree.n_threads, 0);
	assert_int_equal(tree.exit_ns, 9000);
	assert_int_equal(tree.cpu_exit, 1);
}

/* What a child does after the end of the process is not in the window. */
static void test_child_lives_longer(void **state)
{
	struct ring ring = { 0 };
	struct tree tree;

	(void)state;
	put_task(&ring, PERF_RECORD_FORK, PROCESS, PROCESS, 2000, 0);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 3000, 0);
	put_in(&ring, PROCESS, 3100, 0);
	put_preempted(&ring, PROCESS, 4000, 0);
	put_in(&ring, PROCESS, 7000, 0);
	tree = parse(&ring, 1);
	assert_int_equal(tree.waited_ns, 0);
	assert_int_equal(tree.exit_ns, 3000);
	assert_int_equal(tree.n_threads, 0);
	/* It still runs. */
	assert_int_equal(tree.ran_ns, -1);
}

/* A process that ends frees its memory, while another one waits. When it has had 5 ms for that, it
 * is somebody else who has the CPU. A thread that ends has nothing to free. */
static void test_ending(void **state)
{
	enum {
		MS = 1000000
	};
	struct ring ring = { 0 };

	(void)state;
	put_task(&ring, PERF_RECORD_FORK, PROCESS, PROCESS, 1 * MS, 0);
	put_preempted(&ring, CHILD, 2 * MS, 0);
	put_in(&ring, PROCESS, 2 * MS, 0);
	put_task(&ring, PERF_RECORD_EXIT, PROCESS, PROCESS, 3 * MS, 0);
	put_in(&ring, CHILD, 5 * MS, 0);
	assert_int_equal(parse(&ring, 1).waited_ns, 0);
	put_task(&ring, PERF_RECORD_FORK, PROCESS, PROCESS, 6 * MS, 0);
	put_preempted(&ring, CHILD, 7 * MS, 0);
	put_in(&ring, PROCESS, 7 * MS, 0);
	put_task(&ring, PERF_RECORD_EXIT, PROCESS, PROCESS, 8 * MS, 0);
	put_in(&ring, CHILD, 16 * MS, 0);
	assert_int_equal(parse(&ring, 1).waited_ns, 3 * MS);
	put_task(&ring, PERF_RECORD_FORK, CHILD, THREAD, 17 * MS, 0);
	put_preempted(&ring, CHILD, 18 * MS, 0);
	put_in(&ring, THREAD, 18 * MS, 0);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, THREAD, 19 * MS, 0);
	put_in(&ring, CHILD, 20 * MS, 0);
	assert_int_equal(parse(&ring, 1).waited_ns, 4 * MS);
}

/* Two CPUs: a task that waits while one of them is with somebody else has lost half of what the
 * program could have had. */
static void test_two_cpus(void **state)
{
	struct ring rings[2] = { 0 };
	struct tree tree;

	(void)state;
	put_task(&rings[0], PERF_RECORD_FORK, CHILD, THREAD, 2000, 0);
	put_in(&rings[1], THREAD, 2000, 1);
	put_preempted(&rings[1], THREAD, 3000, 1);
	put_preempted(&rings[0], CHILD, 4000, 0);
	put_in(&rings[0], CHILD, 5000, 0);
	put_in(&rings[0], THREAD, 5000,
		0); /* not possible at once, but the record is that of a move */
	put_task(&rings[0], PERF_RECORD_EXIT, CHILD, THREAD, 6000, 0);
	put_task(&rings[0], PERF_RECORD_EXIT, CHILD, CHILD, 7000, 0);
	tree = parse(rings, 2);
	/* Half of 3000 to 4000, and all of 4000 to 5000. */
	assert_int_equal(tree.waited_ns, 500 + 1000);
	assert_int_equal(tree.n_migrations, 1);
	assert_int_equal(tree.n_switches, 3);
}

/* With one of the rings full, nothing is known of what comes later. */
static void test_lost_records(void **state)
{
	struct ring rings[2] = { 0 };
	uint64_t lost[2] = { 7, 3 };
	struct tree tree;

	(void)state;
	put_preempted(&rings[0], CHILD, 2000, 0);
	put_in(&rings[1], CHILD, 2500, 1);
	put_record(&rings[0], PERF_RECORD_LOST, 0, lost, sizeof(lost), CHILD, 2600, 0);
	put_preempted(&rings[1], CHILD, 3000, 1);
	put_in(&rings[1], CHILD, 9000, 1);
	tree = parse(rings, 2);
	assert_int_not_equal(tree.n_lost, 0);
	assert_in_range(tree.waited_ns, 0, 500);
}

/* More tasks than the table has room for. */
static void test_too_many_tasks(void **state)
{
	/* Not on the stack: 600 fork records are larger than one ring. */
	static struct ring rings[10];
	static struct records records[10];
	const struct window window = { .exec_ns = BEGIN, .n_exec = 1 };
	struct tree tree;

	(void)state;
	for (uint32_t i = 0; i < 600; i++)
		put_task(&rings[i / 60], PERF_RECORD_FORK, THREAD + i, THREAD + i, 2000 + i, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rings); i++)
		records[i] = ring_records(&rings[i]);
	tree_parse(records, ARRAY_SIZE(records), CHILD, &window, &tree);
	assert_int_equal(tree.n_lost, 1);
	assert_in_range(tree.n_tasks, 500, 599);
}

/* The kernel's sum for the main thread knows what it waited after its wake-ups, but not for whom.
 */
static void test_waiting(void **state)
{
	static const struct {
		uint32_t n_tasks;
		int64_t waited, leader_waited, gap, sum, all;
	} cases[] = {
		{ 1, 650, 650, 100, 700, 700 }, /* 50 after wake-ups */
		{ 1, 650, 650, 100, -1, 650 },
		{ 1, 650, 650, 10, 9000, 660 }, /* before exec, or after the end */
		{ 1, 650, 650, 0, 9000, 650 },
		{ 2, 300, 200, 100, 250, 350 }, /* 50 after wake-ups */
		{ 2, 300, 200, 100, 900, 400 }, /* most of it for the other task */
		{ 2, 300, 200, 100, 150, 300 },
		{ 2, 300, 200, 100, -1, 300 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct launch_report report = {
			.run_delay_ns = cases[i].sum,
			.tree_tried = 1,
			.tree = {
				.n_tasks = cases[i].n_tasks,
				.waited_ns = cases[i].waited,
				.leader_waited_ns = cases[i].leader_waited,
				.leader_gap_ns = cases[i].gap,
			},
		};

		assert_int_equal(tree_waited(&report), cases[i].all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_task),
		cmocka_unit_test(test_tasks_wait_for_each_other),
		cmocka_unit_test(test_end_of_the_last_thread),
		cmocka_unit_test(test_child_lives_longer),
		cmocka_unit_test(test_ending),
		cmocka_unit_test(test_two_cpus),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_too_many_tasks),
		cmocka_unit_test(test_waiting),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
