// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/where/autochoice.h"

enum {
	N_CPUS = 16,
};

/* A machine that each test describes, and what is known about it. */
struct fixture {
	struct topology *topology;
	struct cpumask *allowed, *isolated, *mask;
	double busy[N_CPUS];
	uint64_t interrupts[N_CPUS];
	uint64_t fixed[N_CPUS];
	struct autochoice_input input;
};

/* 16 CPUs on 8 cores (0 and 8, 1 and 9...), all online and allowed, two caches of four cores each,
 * one node, nothing known about load. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	if (topology_new(N_CPUS, &f->topology) < 0 || cpumask_new(&f->allowed) < 0 ||
		cpumask_new(&f->isolated) < 0 || cpumask_new(&f->mask) < 0)
		return -1;
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		struct topology_cpu *c = &f->topology->cpus[cpu];

		c->core = cpu % 8;
		c->package = 0;
		c->node = 0;
		c->llc = c->core / 4 * 4;
		c->llc_level = 3;
		if (cpumask_set(f->allowed, cpu) < 0)
			return -1;
	}
	cpumask_assign(f->topology->possible, f->allowed);
	cpumask_assign(f->topology->present, f->allowed);
	cpumask_assign(f->topology->online, f->allowed);
	f->input = (struct autochoice_input){
		.allowed = f->allowed,
		.isolated = f->isolated,
		.n_cpus = N_CPUS,
	};
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	topology_free(f->topology);
	cpumask_free(f->allowed);
	cpumask_free(f->isolated);
	cpumask_free(f->mask);
	free(f);
	return 0;
}

static void fill(struct cpumask *mask, const char *list)
{
	assert_int_equal(cpumask_parse_list(list, N_CPUS, mask, NULL), 0);
}

static void set_kinds(struct fixture *f, const char *list, enum topology_kind kind)
{
	fill(f->mask, list);
	cpumask_for_each (cpu, f->mask)
		f->topology->cpus[cpu].kind = kind;
}

static void expect_choice(struct fixture *f, unsigned n, const char *list, const char *reason)
{
	char *chosen, *why = NULL;

	cpumask_clear_all(f->mask);
	assert_int_equal(autochoice_choose(f->topology, &f->input, n, f->mask, &why), 0);
	chosen = cpumask_format_list(f->mask);
	assert_non_null(chosen);
	fprintf(stderr, "%s\n", why);
	assert_string_equal(chosen, list);
	if (reason)
		assert_string_equal(why, reason);
	free(chosen);
	free(why);
}

static void test_nothing_known(void **state)
{
	struct fixture *f = *state;

	/* Neither 0 nor its sibling 8; the highest of what is left. */
	expect_choice(f, 0, "15", "CPU 15: not CPU 0, the last of 14 alike");
	expect_choice(f, 1, "15", "CPU 15: not CPU 0, the last of 14 alike");
	f->input.isolated = NULL;
	expect_choice(f, 0, "15", NULL);
}

static void test_only_one(void **state)
{
	struct fixture *f = *state;

	fill(f->allowed, "0");
	expect_choice(f, 0, "0", "CPU 0: the only CPU allowed here");
	fill(f->allowed, "5");
	expect_choice(f, 1, "5", "CPU 5: the only CPU allowed here");
	/* CPU 0's sibling is better than CPU 0. */
	fill(f->allowed, "0,8");
	expect_choice(f, 0, "8", "CPU 8: not CPU 0");
}

static void test_unusable(void **state)
{
	struct fixture *f = *state;
	char *why = NULL;

	fill(f->mask, "3");
	fill(f->topology->online, "0-7");
	fill(f->allowed, "8-15");
	assert_int_equal(autochoice_choose(f->topology, &f->input, 0, f->mask, &why), -ENODEV);
	fill(f->allowed, "7-15");
	assert_int_equal(autochoice_choose(f->topology, &f->input, 2, f->mask, &why), -ERANGE);
	assert_null(why);
	assert_int_equal(cpumask_first(f->mask), 3);
	assert_int_equal(cpumask_weight(f->mask), 1);
	/* Allowed but offline, online but not allowed. */
	fill(f->allowed, "6-15");
	expect_choice(f, 0, "7", NULL);
}

static void test_isolated(void **state)
{
	struct fixture *f = *state;

	fill(f->isolated, "2-3");
	expect_choice(f, 0, "2-3", "CPUs 2-3: all isolated CPUs that are allowed here");
	expect_choice(f, 1, "3", "CPU 3: isolated, not CPU 0, the last of 2 alike");
	expect_choice(f, 2, "2-3", NULL);
	expect_choice(f, 3, "13-15",
		"CPUs 13-15: 2 isolated ones are too few, 3 cores of one last-level cache, not CPU "
		"0");
	fill(f->allowed, "0-2");
	expect_choice(f, 0, "2", "CPU 2: the isolated CPU that is allowed here");
	/* Not ours: as if there were none. */
	fill(f->allowed, "0-1");
	expect_choice(f, 0, "1", "CPU 1: not CPU 0");
	fill(f->allowed, "0-15");
	fill(f->topology->online, "0-1,8-15");
	expect_choice(f, 0, "15", NULL);
}

/* Each rule decides against all that come after it. */
static void test_order(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	f->input.interrupts = f->interrupts;
	set_kinds(f, "0-3,8-11", TOPOLOGY_KIND_PERFORMANCE);
	set_kinds(f, "4-7,12-15", TOPOLOGY_KIND_EFFICIENCY);
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		f->busy[cpu] = 0.5;
		f->interrupts[cpu] = 1000;
	}
	f->interrupts[0] = 0;
	f->topology->cpus[0].rank = 99;
	expect_choice(f, 0, "11", NULL);

	/* 8. rank */
	f->topology->cpus[1].rank = 50;
	expect_choice(f, 0, "1",
		"CPU 1: not CPU 0, a performance core, 50 % busy, its sibling CPU 9 up to 50 % "
		"busy, ranked best by the firmware (50)");
	/* 7. interrupts */
	f->interrupts[2] = 999;
	expect_choice(f, 0, "2",
		"CPU 2: not CPU 0, a performance core, 50 % busy, its sibling CPU 10 up to 50 % "
		"busy, fewest interrupts of its like (999)");
	/* 6. interrupts that cannot be moved */
	f->input.fixed = f->fixed;
	f->fixed[2] = 300;
	expect_choice(f, 0, "1",
		"CPU 1: not CPU 0, a performance core, 50 % busy, its sibling CPU 9 up to 50 % "
		"busy, fewest interrupts that cannot be moved (0), ranked best by the firmware (50)");
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->fixed[cpu] = cpu == 2 ? 300 : 400;
	expect_choice(f, 0, "2",
		"CPU 2: not CPU 0, a performance core, 50 % busy, its sibling CPU 10 up to 50 % "
		"busy, fewest interrupts that cannot be moved (300)");
	f->fixed[8] = 0;
	expect_choice(f, 0, "2",
		"CPU 2: not CPU 0, a performance core, 50 % busy, its sibling CPU 10 up to 50 % "
		"busy, fewest interrupts of its like that cannot be moved (300)");
	/* 5. CPU 0's core */
	f->interrupts[8] = 0;
	f->topology->cpus[8].rank = 99;
	expect_choice(f, 0, "2", NULL);
	f->input.fixed = NULL;
	/* 4. itself less busy; for its sibling that is 3. */
	f->busy[3] = 0.3;
	expect_choice(f, 0, "11",
		"CPU 11: not CPU 0, a performance core, 50 % busy, its sibling CPU 3 up to 30 % "
		"busy");
	f->busy[11] = 0.3;
	f->interrupts[3] = 5000;
	f->interrupts[11] = 5001;
	expect_choice(f, 0, "3",
		"CPU 3: not CPU 0, a performance core, 30 % busy, its sibling CPU 11 up to 30 % "
		"busy, fewest interrupts of its like (5000)");
	f->busy[3] = 0.2;
	f->interrupts[3] = 9000;
	expect_choice(f, 0, "11", NULL);
	fill(f->isolated, "3,9");
	expect_choice(f, 1, "3", NULL);
	cpumask_clear_all(f->isolated);
	/* 2. the kind: an idle small core is no match for a busy large one */
	f->busy[15] = 0;
	f->busy[7] = 0;
	f->interrupts[15] = 0;
	expect_choice(f, 0, "11", NULL);
	fill(f->allowed, "0,4-7,12-15");
	expect_choice(f, 0, "15",
		"CPU 15: not CPU 0, an efficiency core, idle, its sibling CPU 7 is idle, fewest "
		"interrupts (0)");
	/* 1. CPU 0, though it is the only performance core, and the others are half busy */
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->busy[cpu] = cpu > 0 ? 0.5 : 0;
	expect_choice(f, 0, "15", NULL);
}

/* A CPU that somebody else uses is no place to measure on; CPU 0 is a better one. */
static void test_taken(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	fill(f->allowed, "0,3,5");
	f->busy[3] = 0.6;
	f->busy[5] = 0.9;
	expect_choice(f, 0, "0", "CPU 0: the others are busy, idle, its sibling CPU 8 is idle");
	f->busy[3] = 0.5;
	expect_choice(f, 0, "3", NULL);
	/* With all of them taken, it is the least busy. */
	f->busy[3] = 0.8;
	f->busy[0] = 0.9;
	expect_choice(f, 0, "3", NULL);
	f->busy[3] = f->busy[5] = f->busy[0] = 1;
	expect_choice(f, 0, "5", NULL);
}

static void test_full_reason(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	f->input.interrupts = f->interrupts;
	set_kinds(f, "0-15", TOPOLOGY_KIND_PERFORMANCE);
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->interrupts[cpu] = 100;
	f->interrupts[5] = 12;
	expect_choice(f, 0, "5",
		"CPU 5: not CPU 0, a performance core, idle, its sibling CPU 13 is idle, fewest "
		"interrupts (12)");
	f->topology->kind_source = TOPOLOGY_KIND_FROM_FREQUENCY;
	fill(f->topology->online, "0-12,14-15");
	expect_choice(f, 0, "5",
		"CPU 5: not CPU 0, a performance core by its maximum frequency, idle, what shares its "
		"core is not known, fewest interrupts (12)");
	f->topology->cpus[5].core_told = true;
	expect_choice(f, 0, "5",
		"CPU 5: not CPU 0, a performance core by its maximum frequency, idle, no sibling "
		"beside it, fewest interrupts (12)");
}

/* One tick of the clock in a short reading is no load; what is not a number is unknown. */
static void test_busy_steps(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	f->input.interrupts = f->interrupts;
	f->busy[14] = 0.1;
	f->interrupts[15] = 7;
	expect_choice(f, 1, "14", NULL);
	f->busy[14] = 0.11;
	expect_choice(f, 1, "13", NULL);
	f->busy[14] = 7;
	expect_choice(f, 1, "13", NULL);
	f->busy[14] = NAN;
	expect_choice(f, 1, "14",
		"CPU 14: not CPU 0, its sibling CPU 6 is idle, fewest interrupts "
		"(0), the last of 13 alike");
	f->busy[14] = -1;
	expect_choice(f, 1, "14", NULL);
	/* CPUs beyond the arrays. */
	f->input.n_cpus = 4;
	expect_choice(f, 1, "15", NULL);
}

static void test_several(void **state)
{
	struct fixture *f = *state;

	expect_choice(f, 2, "14-15", "CPUs 14-15: 2 cores of one last-level cache, not CPU 0");
	expect_choice(f, 4, "12-15", NULL);
	/* No cache has five cores; the node has. CPU 8 would share with CPU 0. */
	expect_choice(f, 5, "11-15", "CPUs 11-15: 5 cores of node 0, not CPU 0");
	expect_choice(f, 8, "8-15", "CPUs 8-15: 8 cores of node 0, not CPU 0");
	expect_choice(f, 9, "7-15", "CPUs 7-15: sharing 8 cores, for want of more, not CPU 0");
	expect_choice(f, 16, "0-15",
		"CPUs 0-15: the only CPUs allowed here, sharing 8 cores, for want of more, CPU 0 "
		"among them");
}

/* One good core and two bad ones lose to three fair ones, which share a cache as well. */
static void test_several_by_the_worst(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	f->input.interrupts = f->interrupts;
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->interrupts[cpu] = 100 + (uint64_t)cpu;
	f->interrupts[15] = 1;
	for (int core = 4; core < 7; core++)
		f->busy[core] = f->busy[core + 8] = 1;
	expect_choice(f, 1, "15", NULL);
	expect_choice(f, 3, "1-3",
		"CPUs 1-3: 3 cores of one last-level cache, not CPU 0, idle, siblings idle, "
		"interrupts up to 103");
	/* A fourth core there is CPU 0's, which is better than a busy one. */
	expect_choice(f, 4, "1-3,8", NULL);
	f->input.fixed = f->fixed;
	f->fixed[3] = 7;
	f->fixed[11] = 8;
	expect_choice(f, 3, "1-3",
		"CPUs 1-3: 3 cores of one last-level cache, not CPU 0, idle, siblings idle, "
		"interrupts up to 103, up to 7 of them cannot be moved");
}

static void test_several_packages(void **state)
{
	struct fixture *f = *state;

	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		f->topology->cpus[cpu].package = cpu % 8 / 4;
		f->topology->cpus[cpu].node = cpu % 8 / 4;
	}
	expect_choice(f, 4, "12-15", NULL);
	expect_choice(f, 5, "11-15", "CPUs 11-15: 5 cores of several packages, not CPU 0");
	/* Several caches and nodes in one package. */
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->topology->cpus[cpu].package = 7;
	expect_choice(f, 5, "11-15", "CPUs 11-15: 5 cores of package 7, not CPU 0");
}

static void test_several_performance(void **state)
{
	struct fixture *f = *state;

	/* Two performance cores per cache: three of them are further apart, but alike. */
	set_kinds(f, "0-1,4-5,8-9,12-13", TOPOLOGY_KIND_PERFORMANCE);
	set_kinds(f, "2-3,6-7,10-11,14-15", TOPOLOGY_KIND_EFFICIENCY);
	expect_choice(f, 2, "12-13", NULL);
	expect_choice(
		f, 3, "9,12-13", "CPUs 9,12-13: 3 cores of node 0, not CPU 0, performance cores");
	expect_choice(f, 4, "8-9,12-13", NULL);
	expect_choice(f, 5, "8-9,12-13,15",
		"CPUs 8-9,12-13,15: 5 cores of node 0, not CPU 0, 4 on performance and 1 on "
		"efficiency cores");
	/* Without CPU 8 the fourth performance core has only CPU 0. */
	fill(f->allowed, "0-7,9-15");
	expect_choice(f, 4, "10-11,14-15",
		"CPUs 10-11,14-15: 4 cores of node 0, not CPU 0, efficiency cores");
	/* Those are no choice while one is busy. */
	f->input.busy = f->busy;
	f->busy[10] = f->busy[2] = 0.9;
	expect_choice(f, 4, "12-15", NULL);
}

/* Low-power cores are no efficiency cores, and are taken only where there are too few others. */
static void test_three_kinds(void **state)
{
	struct fixture *f = *state;

	set_kinds(f, "0-2,8-10", TOPOLOGY_KIND_PERFORMANCE);
	set_kinds(f, "3-5,11-13", TOPOLOGY_KIND_EFFICIENCY);
	set_kinds(f, "6-7,14-15", TOPOLOGY_KIND_LOW_POWER);
	expect_choice(f, 2, "9-10", NULL);
	fill(f->allowed, "3-7,11-15");
	expect_choice(f, 0, "13", "CPU 13: not CPU 0, an efficiency core, the last of 6 alike");
	expect_choice(f, 3, "11-13", "CPUs 11-13: 3 cores of node 0, not CPU 0, efficiency cores");
	expect_choice(f, 4, "12-15",
		"CPUs 12-15: 4 cores of one last-level cache, not CPU 0, 2 on efficiency and 2 on "
		"low-power cores");
	fill(f->allowed, "5-7,13-15");
	expect_choice(f, 2, "14-15", NULL);
	fill(f->allowed, "1,5-7");
	expect_choice(f, 4, "1,5-7",
		"CPUs 1,5-7: the only CPUs allowed here, 4 cores of node 0, not CPU 0, 1 on "
		"performance and 1 on efficiency and 2 on low-power cores");
	fill(f->allowed, "14");
	expect_choice(f, 0, "14", "CPU 14: the only CPU allowed here, a low-power core");
}

static void test_several_unknown(void **state)
{
	struct fixture *f = *state;

	/* s390: no cache, no node, no package. */
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		struct topology_cpu *c = &f->topology->cpus[cpu];

		c->core = cpu;
		c->package = c->node = c->llc = c->llc_level = -1;
	}
	expect_choice(f, 3, "13-15", "CPUs 13-15: 3 cores, not CPU 0");
}

static void expect_housekeeping(struct fixture *f, const char *benchmark, const char *list)
{
	struct cpumask *cpus = NULL;
	char *text;

	assert_int_equal(cpumask_new(&cpus), 0);
	fill(cpus, benchmark);
	/* The result may be the question. */
	assert_int_equal(autochoice_housekeeping(f->topology, f->allowed, cpus, cpus), 0);
	text = cpumask_format_list(cpus);
	assert_non_null(text);
	assert_string_equal(text, list);
	free(text);
	cpumask_free(cpus);
}

/* Who sends the load elsewhere spares CPU 0's core, whatever the others have to do now. */
static void test_spare_zero(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	f->input.spare_zero = true;
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->busy[cpu] = cpu % 8 == 0 ? 0 : cpu == 3 || cpu == 11 ? 0.8 : 1;
	expect_choice(f, 0, "11",
		"CPU 11: not CPU 0, 80 % busy, its sibling CPU 3 up to 80 % busy, the last of 2 alike");
	expect_choice(f, 7, "9-15", NULL);
	/* Until there is no other. */
	expect_choice(f, 8, "8-15", NULL);
	fill(f->allowed, "0,5,8");
	expect_choice(
		f, 1, "5", "CPU 5: not CPU 0, 100 % busy, its sibling CPU 13 up to 100 % busy");
	fill(f->allowed, "0,8");
	expect_choice(f, 1, "8", NULL);
	fill(f->allowed, "0-15");
	/* Of isolated ones, too, if they are not all wanted. */
	fill(f->isolated, "3,8");
	f->busy[3] = 0.4;
	expect_choice(f, 1, "3",
		"CPU 3: isolated, not CPU 0, 40 % busy, its sibling CPU 11 up to 80 % busy");
	expect_choice(f, 0, "3,8", NULL);
	f->input.spare_zero = false;
	expect_choice(f, 1, "8", NULL);
}

/* Whoever isolated CPUs that are busy now did so for the programs that run there. */
static void test_isolated_busy(void **state)
{
	struct fixture *f = *state;

	f->input.busy = f->busy;
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		f->busy[cpu] = 0;
	fill(f->isolated, "2-5");
	f->busy[4] = f->busy[5] = 0.9;
	expect_choice(f, 0, "2-3",
		"CPUs 2-3: all isolated CPUs that are allowed here, but 2 that are busy");
	expect_choice(f, 2, "2-3", NULL);
	f->busy[2] = f->busy[3] = 1;
	for (int spare = 0; spare <= 1; spare++) {
		f->input.spare_zero = spare;
		expect_choice(f, 0, "15", NULL);
		expect_choice(f, 12, "0-1,6-15", NULL);
		/* For want of others. */
		expect_choice(f, 16, "0-15", NULL);
	}
	fill(f->allowed, "2-3");
	expect_choice(f, 1, "3", NULL);
}

static void test_housekeeping(void **state)
{
	struct fixture *f = *state;

	expect_housekeeping(f, "3", "0-2,4-10,12-15");
	expect_housekeeping(f, "", "0-15");
	expect_housekeeping(f, "8191", "0-15");
	/* Only siblings are left. */
	expect_housekeeping(f, "0-7", "8-15");
	expect_housekeeping(f, "0-14", "15");
	fill(f->allowed, "3,11");
	expect_housekeeping(f, "3", "11");
	fill(f->allowed, "0-15");
	fill(f->topology->online, "0-3");
	expect_housekeeping(f, "3", "0-2");

	fill(f->mask, "0-3");
	assert_int_equal(
		autochoice_housekeeping(f->topology, f->allowed, f->mask, f->isolated), -ENODATA);
	assert_true(cpumask_is_empty(f->isolated));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unusable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_isolated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy_steps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_by_the_worst, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_packages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_performance, setup, teardown),
		cmocka_unit_test_setup_teardown(test_three_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spare_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(test_isolated_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_housekeeping, setup, teardown),
	};

	return cmocka_run_group_tests_name("autochoice", tests, NULL, NULL);
}
