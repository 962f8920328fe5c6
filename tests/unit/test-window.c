// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "fake-ring.h"
#include "measure/window.h"

static struct window parse(const struct ring *ring)
{
	const struct records records = ring_records(ring);
	struct window w;

	window_parse(&records, 1, CHILD, &w);
	return w;
}

/* What an unrelated process does: it executes a program, forks and ends. */
static void put_others(struct ring *ring, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t ids[4];
		uint64_t record_time;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} task = {
		.header = { .type = PERF_RECORD_FORK, .size = sizeof(task) },
		.ids = { CHILD + 50, CHILD + 40, CHILD + 50, CHILD + 40 },
		.pid = CHILD + 40,
		.tid = CHILD + 40,
		.time = time,
	};

	ring_put(ring, &task, sizeof(task));
	task.header.type = PERF_RECORD_EXIT;
	ring_put(ring, &task, sizeof(task));
	task.header.type = PERF_RECORD_COMM;
	task.header.misc = PERF_RECORD_MISC_COMM_EXEC;
	ring_put(ring, &task, sizeof(task));
}

static void test_plain_run(void **state)
{
	struct ring ring = { 0 };
	struct window w;

	(void)state;
	put_comm(&ring, true, 1000, 3);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 5000, 5);
	w = parse(&ring);
	assert_int_equal(w.exec_ns, 1000);
	assert_int_equal(w.exit_ns, 5000);
	assert_int_equal(w.n_exec, 1);
	assert_int_equal(w.n_exit, 1);
	assert_int_equal(w.cpu_exec, 3);
	assert_int_equal(w.cpu_exit, 5);
	assert_int_equal(w.n_lost + w.n_threads + w.n_children, 0);
}

static void test_nothing(void **state)
{
	struct ring ring = { 0 };
	struct window w = parse(&ring);

	(void)state;
	assert_int_equal(w.exec_ns, 0);
	assert_int_equal(w.exit_ns, 0);
	assert_int_equal(w.n_exec + w.n_exit, 0);
	assert_int_equal(w.cpu_exec, -1);
}

static void test_renamed_thread_is_no_exec(void **state)
{
	struct ring ring = { 0 };

	(void)state;
	put_comm(&ring, false, 900, 0);
	put_comm(&ring, true, 1000, 0);
	put_comm(&ring, false, 1100, 0);
	assert_int_equal(parse(&ring).n_exec, 1);
	assert_int_equal(parse(&ring).exec_ns, 1000);
}

static void test_first_exec_of_a_wrapper_counts(void **state)
{
	struct ring ring = { 0 };

	(void)state;
	put_comm(&ring, true, 1000, 1);
	put_comm(&ring, true, 2000, 2);
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 5000, 0);
	assert_int_equal(parse(&ring).n_exec, 2);
	assert_int_equal(parse(&ring).exec_ns, 1000);
	assert_int_equal(parse(&ring).cpu_exec, 1);
}

static void test_threads_and_children(void **state)
{
	struct ring ring = { 0 };
	struct window w;

	(void)state;
	put_comm(&ring, true, 1000, 0);
	put_task(&ring, PERF_RECORD_FORK, CHILD, CHILD + 1, 1500, 0);
	put_task(&ring, PERF_RECORD_FORK, CHILD + 2, CHILD + 2, 1600, 0);
	/* The end of another thread is one of the process, but not that of the main thread; the end
	 * of a child is neither. */
	put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD + 1, 1700, 7);
	put_task(&ring, PERF_RECORD_EXIT, CHILD + 2, CHILD + 2, 1800, 0);
	w = parse(&ring);
	assert_int_equal(w.n_threads, 1);
	assert_int_equal(w.n_children, 1);
	assert_int_equal(w.n_exit, 0);
	assert_int_equal(w.leader_exit_ns, 0);
	assert_int_equal(w.exit_ns, 1700);
	assert_int_equal(w.cpu_exit, 7);
}

/* Rings of CPUs hold the records of all tasks, and those of the process on several CPUs. */
static void test_rings_of_cpus(void **state)
{
	struct ring rings[2] = { 0 };
	struct records records[2];
	struct window w;

	(void)state;
	/* The process moves to CPU 1, executes another program there, and a thread of it ends last,
	 * on CPU 0. */
	put_comm(&rings[1], true, 2000, 1);
	put_comm(&rings[0], true, 1000, 0);
	put_task(&rings[0], PERF_RECORD_FORK, CHILD, CHILD + 1, 2500, 0);
	put_task(&rings[1], PERF_RECORD_EXIT, CHILD, CHILD, 4000, 1);
	put_task(&rings[0], PERF_RECORD_EXIT, CHILD, CHILD + 1, 5000, 0);
	put_others(&rings[0], 500);
	put_others(&rings[1], 6000);
	for (size_t i = 0; i < ARRAY_SIZE(rings); i++)
		records[i] = ring_records(&rings[i]);
	window_parse(records, ARRAY_SIZE(records), CHILD, &w);
	assert_int_equal(w.exec_ns, 1000);
	assert_int_equal(w.cpu_exec, 0);
	assert_int_equal(w.n_exec, 2);
	assert_int_equal(w.leader_exit_ns, 4000);
	assert_int_equal(w.exit_ns, 5000);
	assert_int_equal(w.cpu_exit, 0);
	assert_int_equal(w.n_threads, 1);
	assert_int_equal(w.n_children, 0);
	assert_int_equal(w.n_lost, 0);
	/* Nothing of the process itself. */
	window_parse(records, ARRAY_SIZE(records), CHILD + 9, &w);
	assert_int_equal(w.exec_ns, 0);
	assert_int_equal(w.exit_ns, 0);
}

static void test_lost_records(void **state)
{
	struct ring ring = { 0 };
	uint64_t lost[2] = { 7, 3 };

	(void)state;
	put_comm(&ring, true, 1000, 0);
	put_record(&ring, PERF_RECORD_LOST, 0, lost, sizeof(lost), CHILD, 2000, 0);
	assert_int_equal(parse(&ring).n_lost, 3);
}

/* Records wrap at the end of the ring, so they must be found wherever the ring begins. */
static void test_wrapped_ring(void **state)
{
	(void)state;
	for (uint64_t start = RING - 200; start < RING + 8; start += 8) {
		struct ring ring = { .head = start, .tail = start };
		struct window w;

		put_comm(&ring, true, 1000, 0);
		put_task(&ring, PERF_RECORD_FORK, CHILD, CHILD + 1, 1500, 0);
		put_task(&ring, PERF_RECORD_EXIT, CHILD, CHILD, 5000, 0);
		w = parse(&ring);
		assert_int_equal(w.exec_ns, 1000);
		assert_int_equal(w.exit_ns, 5000);
		assert_int_equal(w.n_threads, 1);
		assert_int_equal(w.n_lost, 0);
	}
}

static void test_malformed_records(void **state)
{
	struct perf_event_header header = { .type = PERF_RECORD_COMM };
	static const uint16_t sizes[] = { 0, 7, 4096, UINT16_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ring ring = { 0 };

		put_comm(&ring, true, 1000, 0);
		header.size = sizes[i];
		ring_put(&ring, &header, sizeof(header));
		/* Records before the malformed one are used, and the reading ends there. */
		assert_int_equal(parse(&ring).n_exec, 1);
		assert_int_equal(parse(&ring).n_lost, 1);
	}
	{
		/* Half a header at the end. */
		struct ring ring = { 0 };

		put_comm(&ring, true, 1000, 0);
		ring.head += 4;
		assert_int_equal(parse(&ring).n_lost, 1);
	}
	{
		/* A record that is too short for its type is ignored. */
		struct ring ring = { 0 };

		header.type = PERF_RECORD_EXIT;
		header.size = sizeof(header) + 8;
		ring_put(&ring, &header, sizeof(header));
		ring_put(&ring, "12345678", 8);
		put_comm(&ring, true, 1000, 0);
		assert_int_equal(parse(&ring).n_exit, 0);
		assert_int_equal(parse(&ring).n_exec, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_run),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_renamed_thread_is_no_exec),
		cmocka_unit_test(test_first_exec_of_a_wrapper_counts),
		cmocka_unit_test(test_threads_and_children),
		cmocka_unit_test(test_rings_of_cpus),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_wrapped_ring),
		cmocka_unit_test(test_malformed_records),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
