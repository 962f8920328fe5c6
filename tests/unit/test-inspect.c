// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "base/macro.h"
#include "measure/inspect.h"

static const struct window_floor floor_of_empty = { .reap_ns = 45000, .gap_ns = 75000 };

/* A run of 10 ms that was switched to so often, and whose own stamps have so much more. */
static struct launch_report make_report(uint32_t switches, int64_t gap_ns)
{
	int64_t window_ns = 10 * NSEC_PER_MSEC;

	return (struct launch_report){
		.start_ns = 1000,
		.end_ns = 1000 + window_ns + gap_ns,
		.run_delay_ns = -1,
		.leader_ran_ns = -1,
		.window = {
			.exec_ns = 2000,
			.exit_ns = 2000 + window_ns,
			.leader_exit_ns = 2000 + window_ns,
			.n_exec = 1,
			.n_exit = 1,
		},
		.tree_tried = 1,
		.tree = {
			.n_tasks = 1,
			.n_switches = switches,
			.n_leader_switches = switches,
			.exit_ns = 2000 + window_ns,
		},
	};
}

static enum stamper choose(
	const struct launch_report *report, enum window_verdict verdict, int64_t bare_ns)
{
	struct inspections inspections = { 0 };
	enum stamper stamper;

	inspections_add(&inspections, report, verdict, &floor_of_empty, NULL);
	stamper = inspections_choose(&inspections, bare_ns);
	inspections_clear(&inspections);
	return stamper;
}

/* An event on the main thread may take half a per cent: 50 of 10,000 us. */
static void test_choice_by_price(void **state)
{
	struct launch_report r = make_report(45, 100000);

	(void)state;
	assert_int_equal(choose(&r, WINDOW_SOUND, 0), STAMPER_TASK_EVENT);
	r.tree.n_leader_switches = 46;
	assert_int_equal(choose(&r, WINDOW_SOUND, 0), STAMPER_CORRECTED);
	/* The first run had to read the program from the disk: those that follow take less. */
	r.tree.n_leader_switches = 20;
	assert_int_equal(choose(&r, WINDOW_SOUND, 2 * NSEC_PER_MSEC), STAMPER_CORRECTED);
	/* Forks and threads. */
	r.tree.n_leader_switches = 0;
	r.window.n_children = 16;
	assert_int_equal(choose(&r, WINDOW_SOUND, 0), STAMPER_TASK_EVENT);
	r.window.n_threads = 1;
	assert_int_equal(choose(&r, WINDOW_SOUND, 0), STAMPER_CORRECTED);
}

static void test_choice_by_ends(void **state)
{
	struct launch_report r = make_report(0, 100000);

	(void)state;
	/* Another thread goes on for 60 us, and then for 4 us. */
	r.window.leader_exit_ns = r.window.exit_ns -= 60000;
	assert_int_equal(choose(&r, WINDOW_SOUND, 0), STAMPER_CORRECTED);
	r = make_report(0, 100000);
	r.window.leader_exit_ns = r.window.exit_ns -= 4000;
	assert_int_equal(choose(&r, WINDOW_SOUND, 0), STAMPER_TASK_EVENT);
	/* Where no window can be had even so, nothing is known of the gap. */
	r.tree.n_leader_switches = 1000;
	assert_int_equal(choose(&r, WINDOW_DOUBTFUL, 0), STAMPER_LAUNCHER);
	assert_int_equal(choose(&r, WINDOW_MISSING, 0), STAMPER_LAUNCHER);
}

/* Tasks that nobody waits for are in the records, and not in the sum of the CPU time. */
static void test_unwaited(void **state)
{
	struct launch_report r = make_report(3, 100000);
	struct inspections inspections = { 0 };

	(void)state;
	r.tree.n_tasks = 2;
	r.user_cpu_ns = 5 * NSEC_PER_MSEC;
	r.tree.ran_ns = 25 * NSEC_PER_MSEC;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	assert_false(inspections_have_unwaited(&inspections));
	r.tree.ran_ns = 26 * NSEC_PER_MSEC;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	assert_true(inspections_have_unwaited(&inspections));
	inspections_clear(&inspections);
}

static void test_lost_records(void **state)
{
	struct launch_report r = make_report(3, 100000);
	struct inspections inspections = { 0 };

	(void)state;
	r.tree.n_lost = 1;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	assert_true(inspections_want_more(&inspections));
	/* As many switches as were counted do not tell how many there were. */
	assert_int_equal(inspections_choose(&inspections, 0), STAMPER_CORRECTED);
	r.tree.n_lost = 0;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	assert_false(inspections_want_more(&inspections));
	assert_int_equal(inspections_choose(&inspections, 0), STAMPER_TASK_EVENT);
	inspections_clear(&inspections);
}

static void test_gap(void **state)
{
	struct inspections inspections = { 0 };
	struct inspection_gap gap;
	struct launch_report r = make_report(3, 500000);

	(void)state;
	assert_false(inspections_find_gap(&inspections, &gap));
	/* With records, as long as there is nothing else. */
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	assert_true(inspections_find_gap(&inspections, &gap));
	assert_int_equal(gap.median_ns, 500000);
	for (int64_t i = 0; i < 5; i++) {
		r = make_report(3, 100000 + i * 1000);
		r.tree_tried = 0;
		inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	}
	r = make_report(3, 900000);
	r.tree_tried = 0;
	inspections_add(&inspections, &r, WINDOW_DOUBTFUL, &floor_of_empty, NULL);
	assert_true(inspections_find_gap(&inspections, &gap));
	assert_int_equal(gap.median_ns, 102000);
	assert_int_equal(gap.spread_ns, 2000);
	inspections_clear(&inspections);
}

static double find_real(const struct facts *facts, const char *name)
{
	const struct fact *fact = facts_find(facts, name);

	return fact && fact->type == FACT_REAL ? fact->real : NAN;
}

static void test_description(void **state)
{
	struct inspections inspections = { 0 };
	struct facts facts = { 0 };
	struct launch_report r = make_report(7, 100000);

	(void)state;
	inspections_describe(&inspections, false, 0.008, &facts);
	assert_int_equal(facts.n, 0);
	r.tree.n_tasks = 3;
	r.tree.n_migrations = 2;
	r.tree.waited_ns = NSEC_PER_MSEC;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	inspections_describe(&inspections, false, 0.008, &facts);
	assert_true(fabs(find_real(&facts, "quiesce_inspected_price") - 0.25) < 1e-9);
	assert_true(fabs(find_real(&facts, "quiesce_inspected_waited") - 0.1) < 1e-9);
	assert_int_equal(facts_find(&facts, "quiesce_inspected_tasks")->integer, 3);
	assert_int_equal(facts_find(&facts, "quiesce_inspected_switches")->integer, 7);
	assert_int_equal(facts_find(&facts, "quiesce_inspected_migrations")->integer, 2);
	facts_clear(&facts);
	/* All runs have records and take 12.5 ms; one without took 10 ms. */
	r.tree_tried = 0;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, NULL);
	inspections_describe(&inspections, true, 0.0125, &facts);
	assert_true(fabs(find_real(&facts, "quiesce_inspected_price") - 0.25) < 1e-9);
	facts_clear(&facts);
	inspections_clear(&inspections);
}

/* What a quota explains of the waiting is not the waiting for others. */
static void test_quota(void **state)
{
	struct inspections inspections = { 0 };
	struct facts facts = { 0 };
	struct launch_report r = make_report(7, 100000);
	struct evidence evidence;

	(void)state;
	r.tree.waited_ns = NSEC_PER_MSEC;
	evidence_clear(&evidence);
	evidence.run_delay_ns = r.tree.waited_ns;
	evidence.quota_throttled_ns = NSEC_PER_MSEC * 4 / 10;
	inspections_add(&inspections, &r, WINDOW_SOUND, &floor_of_empty, &evidence);
	inspections_describe(&inspections, false, 0.008, &facts);
	assert_true(fabs(find_real(&facts, "quiesce_inspected_waited") - 0.06) < 1e-9);
	facts_clear(&facts);
	inspections_clear(&inspections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice_by_price),
		cmocka_unit_test(test_choice_by_ends),
		cmocka_unit_test(test_unwaited),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_description),
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
