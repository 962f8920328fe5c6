/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that stand in groups: the sittings of several machines, of which each has several runs.
 * Runs of one sitting have its state of the machine in common, and sittings of one machine the
 * machine. Only machines are independent, so that a statement about such machines is made from one
 * number a machine, whatever the number of runs. The design is that of Kalibera and Jones (Rigorous
 * benchmarking in reasonable time, ISMM 2013): the spread of each level tells at which level more
 * measurements help. The numbers are logarithms here, so that a spread is a proportion.
 */
#ifndef QUIESCE_STATS_NESTED_H
#define QUIESCE_STATS_NESTED_H

#include <stddef.h>

/* One sitting. */
struct nested_value {
	size_t group;	     /* of which machine; values of one machine follow each other */
	double value;	     /* the estimate from its runs */
	double run_variance; /* of that estimate, from the spread of its runs; NAN when unknown */
	double n_runs;
};

/* The standard deviations of the levels, as they would be without those below. */
struct nested_spread {
	double groups;
	double values; /* NAN when no machine has two sittings: then it is within `groups` */
	double runs;   /* of a single run; NAN when unknown */
};

struct nested {
	double mean; /* of the machines' means */
	double low;  /* of the 95 % interval of the mean of such machines */
	double high;
	double p; /* two-sided, of a mean of 0 */
	struct nested_spread spread;
	size_t n_groups; /* of both sides, where two are compared */
	size_t n_values;
	/* Harmonic means, which are what the variance of a mean depends on. */
	double groups_each; /* machines of a side */
	double values_each; /* sittings of a machine */
	double runs_each;   /* runs of a sitting */
	/* Degrees of freedom of the interval, and of one with n machines a side: df_each * (n - 1).
	 */
	double df;
	double df_each;
};

/* -ENODATA with fewer than 2 machines. */
int nested_compute(const struct nested_value *values, size_t n, struct nested *ret);
/* mean(b) - mean(a) of machines that are others, by Welch's test. The spreads are those of a
 * difference of two machines, and so on. -ENODATA with fewer than 2 machines in either. */
int nested_compare(const struct nested_value *a, size_t n_a, const struct nested_value *b,
	size_t n_b, struct nested *ret);

/* How many measurements make half the width of the interval `wanted`. 0: no number of them, up to
 * NESTED_MOST, or nothing is known of the level. */
#define NESTED_MOST 100000
struct nested_plan {
	double wanted;
	size_t groups; /* such machines; where two sides are compared, of each side */
	size_t values; /* sittings on each of these machines */
	size_t runs;   /* runs in each of these sittings */
	/* With so many runs in each sitting, the interval would be at most 5 % wider than it is; 0
	 * when unknown. */
	size_t runs_enough;
};

/* For the next smaller one of 1, 2 and 5 per cent, of 0.1, 0.2 and 0.5 per cent, and so on. */
void nested_plan(const struct nested *nested, struct nested_plan *ret);

#endif
