/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is one benchmark faster or slower than another, and how sure is that?
 *
 * What is compared are the runs, each as the median of its values, never values of one run with
 * each other (result/benchmark.h). The effect is the ratio of the medians with its bootstrap
 * interval. A difference is said to be there when Mann and Whitney's test finds one, at 5 % after
 * the correction for how many benchmarks are compared, and the interval of the ratio does not hold
 * 1: each of them alone errs in at most about 5 % where there is none, both in less.
 *
 * Programs that runpinned ran in turn are compared in pairs: run i of the one with run i of the
 * other, between which the machine had no time to change. The effect is the median of the pairs'
 * ratios then, and the test Wilcoxon's.
 *
 * Data that jump or drift are not stable: what is faster then depends on when one looks. Nothing is
 * concluded from them, unless every level of the one lies on the same side of every level of the
 * other. Of pairs it is the ratio that must not.
 */
#ifndef QUIESCE_REPORT_COMPARE_H
#define QUIESCE_REPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "result/benchmark.h"
#include "stats/inference.h"
#include "stats/stats.h"

enum verdict {
	VERDICT_SAME, /* no difference found */
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_UNCLEAR,
};

struct comparison {
	const struct benchmark *old; /* borrowed */
	const struct benchmark *new;
	struct stats old_stats; /* of the units: runs, or the values of a single run */
	struct stats new_stats;

	struct ratio ratio; /* new / old; low and high are NAN where there is no interval */
	struct mann_whitney ranks;
	struct welch welch;	  /* all NAN where it cannot be done */
	size_t n_pairs;		  /* 0: not compared in pairs; then signs is not set */
	struct signed_rank signs; /* of the logarithms of the pairs' ratios */

	/* Set by comparison_settle(): */
	double adjusted_p; /* of ranks.p, or of signs.p */
	enum verdict verdict;

	char *unclear; /* why nothing can be concluded, or NULL */
	/* What differs between the machines, one each: "quiesce_governor: powersave ->
	 * performance". */
	char **differences;
	size_t n_differences;
};

/* Were they run in turn by one runpinned, so that run i of the one belongs to run i of the other?
 */
bool comparison_is_in_turn(const struct benchmark *old, const struct benchmark *new);
/* -ENODATA when one of them has no values, -EINVAL when they are of different units. */
int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret);
/* The verdicts of all comparisons that are made together. -ENOMEM. */
int comparison_settle(struct comparison **comparisons, size_t n);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free);

/* Is it slower by more than that, with all of its interval? */
bool comparison_is_slower_by(const struct comparison *comparison, double percent);
/* Of the ratios; NAN for none. */
double comparison_geometric_mean(struct comparison *const *comparisons, size_t n);

/* "faster", "no difference found", "unclear: the data are not stable (...)", malloc'd. */
char *comparison_verdict_text(const struct comparison *comparison);
/* "faster", "slower", "same", "unclear": for machines. */
const char *comparison_verdict_name(enum verdict verdict);
/* The figures and the verdict, some lines, malloc'd. The title is the caller's. */
char *comparison_render(const struct comparison *comparison);
/* "-3.7 %", and "-4.4 % .. -2.9 %" or "" without an interval. */
#define COMPARISON_INTERVAL_SIZE (2 * UNITS_TEXT_SIZE + 8)
const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE]);
const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE]);

#endif
