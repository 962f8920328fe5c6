/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers that stand in groups: the sittings of several machines, of which each has several runs.
 * Runs of one sitting share the state of the machine, and sittings of one machine share the
 * machine. Only machines are independent, so a statement about such machines is made from one
 * number for each machine, whatever the number of runs. The design is that of Kalibera and Jones
 * (Rigorous benchmarking in reasonable time, ISMM 2013): the spread of each level tells at which
 * level more measurements help. The numbers are logarithms here, so that a spread is a proportion.
 */
#ifndef QUIESCE_JUDGE_STATS_NESTED_H
#define QUIESCE_JUDGE_STATS_NESTED_H

#include <stddef.h>

/* One sitting. */
struct nested_value {
	size_t group;	     /* of which machine; values of one machine follow each other */
	double value;	     /* the estimate from its runs */
	double run_variance; /* of that estimate, from the spread of its runs; NAN when unknown */
	double n_runs;
};

/* The standard deviations of the levels, each without the part that comes from the levels below. */
struct nested_spread {
	double groups;
	double values; /* NAN when no machine has two sittings: then it is within `groups` */
	double runs;   /* of a single run; NAN when unknown */
};

struct nested {
	double mean; /* of the machines' means */
	double low;  /* of the 95 % interval of the mean of such machines */
	double high;
	double p; /* two-sided, for the hypothesis that the mean is 0 */
	struct nested_spread spread;
	size_t n_groups; /* of both sides, where two are compared */
	size_t n_values;
	/* Harmonic means, because the variance of a mean depends on them. */
	double groups_each; /* machines of a side */
	double values_each; /* sittings of a machine */
	double runs_each;   /* runs of a sitting */
	/* Degrees of freedom of this interval; an interval of n machines a side has df_each * (n -
	 * 1). */
	double df;
	double df_each;
};

/* -ENODATA with fewer than 2 machines. */
int nested_compute(const struct nested_value *values, size_t n, struct nested *ret);
/* mean(b) - mean(a) of two disjoint sets of machines, by Welch's test. The spreads are those of the
 * difference of two machines, of two sittings and of two runs. -ENODATA with fewer than 2 machines
 * in either. */
int nested_compare(const struct nested_value *a, size_t n_a, const struct nested_value *b,
	size_t n_b, struct nested *ret);

/* How many measurements would narrow the interval to +-`wanted`. 0 if NESTED_MOST are not enough,
 * or if the spread of the level is unknown. */
#define NESTED_MOST 100000
struct nested_advice {
	double wanted;
	size_t groups; /* machines; where two sides are compared, machines of each side */
	size_t values; /* sittings on each of these machines */
	size_t runs;   /* runs in each of these sittings */
	/* With so many runs in each sitting, the interval would be at most 5 % wider than it is; 0
	 * when unknown. */
	size_t runs_enough;
};

/* Advice for the next narrower round width: 5, 2, 1, 0.5, 0.2 ... per cent. */
void nested_advice(const struct nested *nested, struct nested_advice *ret);

#endif
