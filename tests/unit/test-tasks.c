// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "basic/macro.h"
#include "machine/tasks.h"

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
	assert_false(task.kernel || task.bound || task.worker);

	/* PF_KTHREAD, PF_NO_SETAFFINITY and PF_WQ_WORKER. */
	assert_int_equal(
		tasks_parse_stat(STAT("12 (kworker/3:1H-kblockd) I", "69238880", "3"), &task), 0);
	assert_string_equal(task.comm, "kworker/3:1H-kblockd");
	assert_true(task.kernel && task.bound && task.worker);

	/* A name may hold anything but a NUL byte. */
	assert_int_equal(tasks_parse_stat(STAT("13 (a) R 1 (b c) R", "0", "0"), &task), 0);
	assert_string_equal(task.comm, "a) R 1 (b c");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
