// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/topology.h"
#include "base/macro.h"

struct fixture {
	struct topology *topology;
	struct cpumask *mask;
};

/* Eight CPUs of which nothing is known. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	return topology_new(8, &f->topology) < 0 || cpumask_new(&f->mask) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	topology_free(f->topology);
	cpumask_free(f->mask);
	free(f);
	return 0;
}

static void expect_list(const struct cpumask *mask, const char *expected)
{
	char *list = cpumask_format_list(mask);

	assert_non_null(list);
	assert_string_equal(list, expected);
	free(list);
}

static void test_new(void **state)
{
	struct fixture *f = *state;
	struct topology *topology = NULL;

	assert_int_equal(topology_new(0, &topology), -EINVAL);
	assert_int_equal(topology_new(CPUMASK_CAPACITY + 1, &topology), -EINVAL);
	assert_null(topology);
	assert_int_equal(topology_new(CPUMASK_CAPACITY, &topology), 0);
	assert_int_equal(topology->cpus[CPUMASK_CAPACITY - 1].core, CPUMASK_CAPACITY - 1);
	topology_free(topology);
	topology_free(NULL);

	assert_int_equal(f->topology->n_cpus, 8);
	assert_true(cpumask_is_empty(f->topology->online));
	for (int cpu = 0; cpu < 8; cpu++) {
		const struct topology_cpu *c = topology_get_cpu(f->topology, cpu);

		assert_non_null(c);
		assert_int_equal(c->core, cpu);
		assert_int_equal(c->package, -1);
		assert_int_equal(c->node, -1);
		assert_int_equal(c->llc, -1);
		assert_int_equal(c->kind, TOPOLOGY_KIND_UNIFORM);
		assert_true(c->rank == -1);
	}
	assert_null(topology_get_cpu(f->topology, 8));
	assert_null(topology_get_cpu(f->topology, -1));
}

static void test_siblings(void **state)
{
	struct fixture *f = *state;

	for (int cpu = 0; cpu < 8; cpu++)
		f->topology->cpus[cpu].core = cpu % 4;
	topology_get_siblings(f->topology, 1, f->mask);
	expect_list(f->mask, "1,5");
	topology_get_siblings(f->topology, 5, f->mask);
	expect_list(f->mask, "1,5");
	topology_get_siblings(f->topology, 8, f->mask);
	expect_list(f->mask, "");
	topology_get_siblings(f->topology, -1, f->mask);
	expect_list(f->mask, "");
}

/* One letter per CPU: uniform, performance, efficiency, low-power, and the fourth kind. */
static void expect_kinds(struct fixture *f, const struct topology_speeds *speeds,
	const char *wanted, enum topology_kind_source source)
{
	char kinds[9] = "";

	assert_int_equal(topology_rate_kinds(f->topology, speeds), 0);
	for (int cpu = 0; cpu < 8; cpu++)
		kinds[cpu] = "UPEL4567L"[f->topology->cpus[cpu].kind];
	assert_string_equal(kinds, wanted);
	assert_int_equal(f->topology->kind_source, source);
}

static void test_kinds(void **state)
{
	static const struct {
		uint64_t speeds[8];
		const char *kinds;
	} cases[] = {
		/* Intel hybrid: 5.2 GHz favoured, 5.0, and 3.9 for the small ones. */
		{ { 5200000, 5200000, 5000000, 5000000, 3900000, 3900000, 3900000, 3900000 },
			"PPPPEEEE" },
		/* Arm: two designs, each binned differently in two clusters. */
		{ { 718, 718, 997, 997, 731, 731, 1017, 1024 }, "EEPPEEPP" },
		/* A510, A715 and X3; and with an A710 between them. */
		{ { 250, 250, 250, 250, 768, 768, 768, 1024 }, "LLLLEEEP" },
		{ { 250, 250, 250, 600, 600, 768, 768, 1024 }, "444LLEEP" },
		/* Each is compared with the fastest of its kind, not with the next one. */
		{ { 1000, 950, 905, 860, 815, 775, 735, 700 }, "PPPEEELL" },
		/* Favoured cores alone make no hybrid. */
		{ { 4900000, 5000000, 5200000, 4900000, 4900000, 4900000, 4900000, 4900000 },
			"UUUUUUUU" },
		{ { 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024 }, "UUUUUUUU" },
		/* Either side of the line. */
		{ { 1000, 900, 1000, 1000, 1000, 1000, 1000, 1000 }, "UUUUUUUU" },
		{ { 1000, 899, 900, 1000, 1000, 1000, 1000, 1000 }, "PEPPPPPP" },
		/* CPUs that are offline say nothing. */
		{ { 1000, 0, 500, 0, 0, 0, 0, 0 }, "PUEUUUUU" },
		{ { 0, 0, 0, 0, 0, 0, 0, 0 }, "UUUUUUUU" },
		{ { UINT64_MAX, 1, 0, 0, 0, 0, 0, 0 }, "PEUUUUUU" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct topology_speeds speeds = { 0 };

		speeds.by[TOPOLOGY_KIND_FROM_CAPACITY] = cases[i].speeds;
		expect_kinds(f, &speeds, cases[i].kinds,
			strchr(cases[i].kinds, 'E') ? TOPOLOGY_KIND_FROM_CAPACITY
						    : TOPOLOGY_KIND_FROM_NOTHING);
	}
}

/* What one source takes for one kind another may tell apart. */
static void test_kinds_of_sources(void **state)
{
	static const uint64_t core_and_atom[] = { 3, 3, 2, 2, 2, 2, 2, 2 };
	static const uint64_t all_three[] = { 3, 3, 2, 2, 2, 2, 1, 1 };
	static const uint64_t capacities[] = { 1024, 1024, 700, 700, 700, 700, 450, 450 };
	static const uint64_t frequencies[] = { 4800, 4700, 3800, 3800, 3800, 3800, 2500, 2500 };
	/* An efficiency core may have the highest frequency. */
	static const uint64_t odd[] = { 3000, 3000, 3800, 3800, 3800, 3800, 3800, 0 };
	struct fixture *f = *state;
	struct topology_speeds speeds = { 0 };

	speeds.by[TOPOLOGY_KIND_FROM_PMU] = core_and_atom;
	expect_kinds(f, &speeds, "PPEEEEEE", TOPOLOGY_KIND_FROM_PMU);
	speeds.by[TOPOLOGY_KIND_FROM_FREQUENCY] = odd;
	expect_kinds(f, &speeds, "PPEEEEEE", TOPOLOGY_KIND_FROM_PMU);
	speeds.by[TOPOLOGY_KIND_FROM_FREQUENCY] = frequencies;
	expect_kinds(f, &speeds, "PPEEEELL", TOPOLOGY_KIND_FROM_PMU);
	speeds.by[TOPOLOGY_KIND_FROM_CAPACITY] = capacities;
	expect_kinds(f, &speeds, "PPEEEELL", TOPOLOGY_KIND_FROM_PMU);
	speeds = (struct topology_speeds){ 0 };
	speeds.by[TOPOLOGY_KIND_FROM_PMU] = all_three;
	expect_kinds(f, &speeds, "PPEEEELL", TOPOLOGY_KIND_FROM_PMU);
	speeds = (struct topology_speeds){ 0 };
	speeds.by[TOPOLOGY_KIND_FROM_FREQUENCY] = frequencies;
	expect_kinds(f, &speeds, "PPEEEELL", TOPOLOGY_KIND_FROM_FREQUENCY);

	/* The same speed, and no L3. A cache alone makes no kinds, and one that is not known no
	 * difference. */
	for (int cpu = 0; cpu < 8; cpu++)
		f->topology->cpus[cpu].llc_level = cpu < 6 ? 3 : 2;
	speeds = (struct topology_speeds){ 0 };
	expect_kinds(f, &speeds, "UUUUUUUU", TOPOLOGY_KIND_FROM_NOTHING);
	speeds.by[TOPOLOGY_KIND_FROM_PMU] = core_and_atom;
	expect_kinds(f, &speeds, "PPEEEELL", TOPOLOGY_KIND_FROM_PMU);
	f->topology->cpus[0].llc_level = -1;
	expect_kinds(f, &speeds, "PPEEEELL", TOPOLOGY_KIND_FROM_PMU);

	assert_string_equal(topology_kind_name(TOPOLOGY_KIND_UNIFORM), "");
	assert_string_equal(topology_kind_name(TOPOLOGY_KIND_LAST), "kind-8");
}

/* Whatever machine this is: what must hold for the pick to be right. */
static void test_this_machine(void **state)
{
	struct fixture *f = *state;
	struct topology *t = NULL;

	assert_int_equal(topology_read_masks(&t), 0);
	assert_true(cpumask_subset(t->present, t->possible));
	assert_int_equal(cpumask_last(t->possible) + 1, t->n_cpus);
	assert_int_equal(topology_get_cpu(t, (int)t->n_cpus - 1)->package, -1);
	topology_free(t);
	assert_int_equal(topology_read(false, &t), 0);
	assert_true(cpumask_subset(t->present, t->possible));
	assert_true(cpumask_subset(t->online, t->present));
	assert_int_equal(cpumask_last(t->possible) + 1, t->n_cpus);
	/* The CPUs that the scheduler gives us are online. */
	assert_int_equal(cpumask_get_self(f->mask), 0);
	assert_false(cpumask_is_empty(f->mask));
	assert_true(cpumask_subset(f->mask, t->online));
	cpumask_for_each (cpu, t->online) {
		const struct topology_cpu *c = topology_get_cpu(t, cpu);

		assert_non_null(c);
		topology_get_siblings(t, cpu, f->mask);
		assert_true(cpumask_isset(f->mask, cpu));
		assert_true(cpumask_isset(f->mask, c->core));
		assert_true(c->core <= cpu);
		assert_true((c->llc < 0) == (c->llc_level < 0));
	}
	topology_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new, setup, teardown),
		cmocka_unit_test_setup_teardown(test_siblings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kinds_of_sources, setup, teardown),
		cmocka_unit_test_setup_teardown(test_this_machine, setup, teardown),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
