// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>

#include "basic/macro.h"
#include "knob/pins.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_has_chosen),
		cmocka_unit_test(test_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
