// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/tasks.h"
#include "base/macro.h"

/* Behind the state: fields 4 to 8, the flags, 29 fields of no interest, the CPU, and more. */
#define STAT(head, flags, cpu)                                                 \
	head " 1 2 3 0 -1 " flags                                              \
	     " 155 0 0 0 0 0 0 0 20 0 1 0 126 0 0 18446744073709551615 0 0 0 " \
	     "0 0 0 0 0 0 0 0 0 17 " cpu " 0 0 0 0 0"

static void test_parse(void **state _unused_)
{
	struct task task = { .pid = 77 };

	assert_int_equal(tasks_parse_stat(STAT("4711 (bash) S", "4194304", "5"), &task), 0);
	assert_int_equal(task.pid, 77);
	assert_int_equal(task.tid, 4711);
	assert_string_equal(task.comm, "bash");
	assert_int_equal(task.state, 'S');
	assert_int_equal(task.cpu, 5);
	assert_true(task.is_single);
	assert_false(task.kernel || task.bound || task.worker);

	/* PF_KTHREAD, PF_NO_SETAFFINITY and PF_WQ_WORKER. */
	assert_int_equal(
		tasks_parse_stat(STAT("12 (kworker/3:1H-kblockd) I", "69238880", "3"), &task), 0);
	assert_string_equal(task.comm, "kworker/3:1H-kblockd");
	assert_true(task.kernel && task.bound && task.worker);

	/* Ended, and not asked for yet. */
	assert_false(task.dead);
	assert_int_equal(tasks_parse_stat(STAT("15 (sleep) Z", "4227148", "3"), &task), 0);
	assert_true(task.dead);

	/* A name may hold anything but a NUL byte. */
	assert_int_equal(tasks_parse_stat(STAT("13 (a) Z 1 (b c) R", "0", "0"), &task), 0);
	assert_false(task.dead);
	assert_string_equal(task.comm, "a) Z 1 (b c");
	assert_int_equal(task.state, 'R');
	assert_int_equal(tasks_parse_stat(STAT("14 () R", "0", "0"), &task), 0);
	assert_string_equal(task.comm, "");
}

static void test_bad(void **state _unused_)
{
	static const char *const bad[] = {
		"",
		"12",
		"12 (name",
		"12 name) R",
		"12 (name)",
		"12 (name) ",
		"12 (name) R",
		"12 (name) R 1 2 3 0 -1 0 155",
		"12 )name( R 1 2 3",
		STAT("x (name) R", "0", "0"),
		STAT("12 (name) R", "x", "0"),
		STAT("12 (name) R", "0", "x"),
		STAT("12 (name) R", "0", "4294967296"),
		STAT("99999999999999999999 (name) R", "0", "0"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct task task = { .tid = -7 };

		assert_int_equal(tasks_parse_stat(bad[i], &task), -EBADMSG);
		assert_int_equal(task.tid, -7);
	}
}

/* This process is there, and may run where it runs. */
static void test_read(void **state _unused_)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	_cleanup_(tasks) struct tasks *tasks = NULL;
	const struct task *self = NULL;

	/* The process has the emulator's name and threads. */
	if (getenv("QUIESCE_EMULATED"))
		skip();
	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_get_self(mask), 0);
	assert_int_equal(tasks_read(mask, &tasks), 0);
	for (size_t i = 0; i < tasks->n; i++) {
		if (tasks->items[i].tid == getpid())
			self = &tasks->items[i];
	}
	assert_non_null(self);
	assert_int_equal(self->pid, getpid());
	assert_true(self->may && self->only && !self->kernel);
	assert_int_equal(self->state, 'R');
	assert_true(strncmp(self->comm, "test-tasks", strlen("test-tasks")) == 0);

	tasks_free(tasks);
	tasks = NULL;
	cpumask_clear_all(mask);
	assert_int_equal(tasks_read(mask, &tasks), 0);
	for (size_t i = 0; i < tasks->n; i++)
		assert_false(tasks->items[i].may || tasks->items[i].only);
}

static void *wait_for_end(void *end)
{
	char byte;

	assert_int_equal(read(*(int *)end, &byte, 1), 0);
	return NULL;
}

static bool is_single(const struct tasks *tasks)
{
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->items[i].tid == getpid())
			return tasks->items[i].is_single;
	return false;
}

static size_t count_own(const struct tasks *tasks)
{
	size_t n = 0;

	for (size_t i = 0; i < tasks->n; i++)
		n += tasks->items[i].pid == getpid();
	return n;
}

/* Threads beside the first of a process, which are left out where they may not run. */
static void test_read_threads(void **state _unused_)
{
	_cleanup_(cpumask) struct cpumask *none = NULL;
	_cleanup_(tasks) struct tasks *some = NULL, *all = NULL;
	pthread_t thread;
	int ends[2];

	if (getenv("QUIESCE_EMULATED"))
		skip();
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
	assert_int_equal(cpumask_new(&none), 0);
	assert_int_equal(tasks_read(none, &some), 0);
	assert_int_equal(tasks_read(NULL, &all), 0);
	assert_int_equal(count_own(some), 1);
	assert_int_equal(count_own(all), 2);
	assert_false(is_single(all));
	close(ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_threads),
	};

	return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
