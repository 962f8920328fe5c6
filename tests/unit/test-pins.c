// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "quiet/engine/pins.h"
#include "quiet/engine/thread.h"

static struct cpumask *parse(const char *list)
{
	struct cpumask *mask = NULL;

	if (list)
		assert_int_equal(cpumask_from_list(list, &mask), 0);
	return mask;
}

struct sets {
	struct cpumask *wish, *last, *before, *now, *cpuset;
};

static void sets_free(struct sets *s)
{
	cpumask_free(s->wish);
	cpumask_free(s->last);
	cpumask_free(s->before);
	cpumask_free(s->now);
	cpumask_free(s->cpuset);
}

static void test_has_chosen(void **state _unused_)
{
	static const struct {
		const char *wish, *last, *before, *now, *cpuset;
		bool wanted;
	} rows[] = {
		/* Nothing has happened. */
		{ "1", "1", "0-3", "1", "0-3", false },
		{ NULL, "0-3", "0-3", "0-3", "0-3", false },
		/* The cpuset has lost CPU 2, and the kernel has forgotten. */
		{ "1", "1", "0-3", "0-1,3", "0-1,3", false },
		{ "1-2", "1-2", "0-3", "0-1,3", "0-1,3", false },
		{ "2", "2", "0-3", "0-1,3", "0-1,3", false },
		{ NULL, "0-3", "0-3", "0-1,3", "0-1,3", false },
		/* The kernel has not forgotten. */
		{ "1-2", "1-2", "0-3", "1", "0-1,3", false },
		{ "1-2", "1", "0-1,3", "1-2", "0-3", false },
		/* The cpuset has its CPUs back, and so has the thread, or not yet. */
		{ "1", "1", "0-1,3", "0-3", "0-3", false },
		{ NULL, "0-1,3", "0-1,3", "0-1,3", "0-3", false },
		{ "2", "0-1,3", "0-1,3", "0-1,3", "0-3", false },
		/* In the root cpuset, where the kernel gives all CPUs that there may ever be. */
		{ "1", "1", "0-3", "0-63", "0-1,3", false },
		/* An offline CPU is in what the thread has, and not in the cpuset. */
		{ "1,3", "1,3", "0-3", "1,3", "0-2", false },
		/* Its owner has bound it. */
		{ "1", "1", "0-3", "0", "0-1,3", true },
		{ "1", "1", "0-3", "0-1", "0-1,3", true },
		{ "1,3", "1,3", "0-3", "1", "0-1,3", true },
		{ NULL, "0-3", "0-3", "1", "0-3", true },
		{ "2", "0-1,3", "0-1,3", "1", "0-1,3", true },
	};
	struct cpumask *scratch = NULL;

	assert_int_equal(cpumask_new(&scratch), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sets s = {
			.wish = parse(rows[i].wish),
			.last = parse(rows[i].last),
			.before = parse(rows[i].before),
			.now = parse(rows[i].now),
			.cpuset = parse(rows[i].cpuset),
		};
		const struct pin pin = { .wish = s.wish, .last = s.last, .cpuset = s.before };

		if (pin_has_chosen(&pin, s.now, s.cpuset, scratch) != rows[i].wanted)
			fail_msg("row %zu is wrong", i);
		sets_free(&s);
	}
	cpumask_free(scratch);
}

static void test_inherited(void **state _unused_)
{
	static const struct {
		const char *last, *now, *cpuset;
		bool wanted;
	} rows[] = {
		{ "1", "1", "0-1,3", true },
		{ "1", "0-1,3", "0-1,3", true }, /* the kernel has forgotten meanwhile */
		{ "1", "0", "0-1,3", false },
		{ "0-3", "1", "0-3", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sets s = {
			.last = parse(rows[i].last),
			.now = parse(rows[i].now),
			.cpuset = parse(rows[i].cpuset),
		};
		const struct pin parent = { .last = s.last, .cpuset = s.cpuset };

		if (pin_is_inherited(&parent, s.now, s.cpuset) != rows[i].wanted)
			fail_msg("row %zu", i);
		assert_false(pin_is_inherited(NULL, s.now, s.cpuset));
		sets_free(&s);
	}
}

/* --- Walks over all threads of the machine, which show nothing but the child of this test. --- */

static struct {
	pid_t child;
	const char *cpus; /* that it has */
	int error;	  /* of reading what it has, with offline CPUs */
	bool hides_cpusets;
} machine;

int __wrap_thread_get_cpus(pid_t tid, struct cpumask *ret);
int __wrap_thread_get_cpus_with_offline(pid_t tid, struct cpumask *ret);
int __wrap_thread_set_cpus(pid_t tid, const struct cpumask *cpus);
int __wrap_isolation_read_cpuset_of(const char *cgroup, struct cpumask *ret, char **ret_path);

int __wrap_thread_get_cpus(pid_t tid, struct cpumask *ret)
{
	return tid == machine.child ? cpumask_parse_list(machine.cpus, 0, ret, NULL) : -ENOENT;
}

int __wrap_thread_get_cpus_with_offline(pid_t tid, struct cpumask *ret)
{
	return machine.error < 0 ? machine.error : __wrap_thread_get_cpus(tid, ret);
}

int __wrap_thread_set_cpus(pid_t tid _unused_, const struct cpumask *cpus _unused_)
{
	return 0;
}

int __wrap_isolation_read_cpuset_of(
	const char *cgroup _unused_, struct cpumask *ret, char **ret_path _unused_)
{
	return machine.hides_cpusets ? -ENODATA : cpumask_parse_list("0-3", 0, ret, NULL);
}

/* What is known of the child after a change in which it had other CPUs, and could not be seen for
 * this reason. */
static int is_chosen_after(int error, bool hides_cpusets)
{
	struct task task = { .tid = machine.child, .pid = machine.child };
	char path[64], text[FILE_ATTR_SIZE];
	struct thread_paths paths;
	struct pins *pins = NULL;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)machine.child);
	assert_true(file_read_attr(AT_FDCWD, path, text, sizeof(text)) > 0);
	assert_int_equal(tasks_parse_stat(text, &task), 0);
	paths = thread_name_knobs(&task);
	machine.cpus = "1";
	assert_int_equal(pins_begin(NULL, false, &pins), 0);
	machine.cpus = "1,3";
	machine.error = error;
	machine.hides_cpusets = hides_cpusets;
	assert_int_equal(pins_begin_change(pins), 0);
	assert_int_equal(pins_end_change(pins), 0);
	machine.cpus = "1";
	machine.error = 0;
	machine.hides_cpusets = false;
	r = pins_is_chosen_anew(pins, paths.chooser, "1");
	pins_free(pins);
	return r;
}

/* A thread that is gone is forgotten. One whose cpuset cannot be seen for a moment is not. */
static void test_unseen(void **state _unused_)
{
	machine.child = fork();
	assert_true(machine.child >= 0);
	/* It ends with the test, also with one that fails. */
	if (machine.child == 0)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (machine.child == 0)
		pause();
	assert_int_equal(is_chosen_after(0, true), 0);
	assert_int_equal(is_chosen_after(-ENOENT, false), -ENOENT);
	assert_int_equal(is_chosen_after(-ESRCH, false), -ENOENT);
	assert_int_equal(kill(machine.child, SIGKILL), 0);
	assert_int_equal(waitpid(machine.child, NULL, 0), machine.child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_has_chosen),
		cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
