/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is one benchmark faster or slower than another one, and how certain is that?
 *
 * The runs are compared, each represented by the median of its values; values of the same run are
 * never treated as independent (result/benchmark.h). The effect is the ratio of the medians, with
 * its bootstrap interval. A difference is reported when Mann and Whitney's test finds one, at 5 %
 * after the correction for the number of benchmarks that are compared, and when the interval of the
 * ratio does not contain 1. If there is no difference, each of these two conditions is met in at
 * most about 5 % of all cases, and both together in fewer.
 *
 * Programs that runpinned ran in turn are compared in pairs: run i of one program with run i of the
 * other one. The machine had hardly any time to change between the two runs of a pair. Then the
 * effect is the median of the ratios of the pairs, and the test is Wilcoxon's.
 *
 * Data that jump or drift are not stable: which program is faster then depends on when it is
 * measured. Nothing is concluded from such data, unless each level of one benchmark is on the same
 * side of each level of the other one. With pairs, it is the ratios that must not jump or drift
 * across 1.
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
	VERDICT_SAME, /* no difference was found */
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_UNCLEAR,
};

struct comparison {
	const struct benchmark *old; /* both are borrowed */
	const struct benchmark *new;
	/* Statistics of the units: of the runs, or of the values of a single run. */
	struct stats old_stats;
	struct stats new_stats;

	struct ratio ratio; /* new / old; low and high are NAN when there is no interval */
	struct mann_whitney ranks;
	struct welch welch; /* all NAN when it cannot be computed */
	/* 0 when they were not compared in pairs; then `signs` is not set. */
	size_t n_pairs;
	struct signed_rank signs; /* the test of the logarithms of the pairs' ratios */

	/* Set by comparison_settle(): */
	double adjusted_p; /* corrected ranks.p, or with pairs signs.p */
	enum verdict verdict;

	char *unclear; /* why nothing can be concluded; NULL otherwise */
	/* The differences between the machines, one text for each: "quiesce_governor: powersave ->
	 * performance". */
	char **differences;
	size_t n_differences;
};

/* Whether the same runpinned ran both in turn, so that run i of one belongs to run i of the other
 * one. */
bool comparison_is_in_turn(const struct benchmark *old, const struct benchmark *new);
/* -ENODATA when one of them has no values, -EINVAL when their units differ. */
int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret);
/* Decides the verdicts of all comparisons that are made together, and corrects for their number.
 * -ENOMEM. */
int comparison_settle(struct comparison **comparisons, size_t n);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free);

/* Whether `new` is slower by more than `percent` even at the lower end of the interval. */
bool comparison_is_slower_by(const struct comparison *comparison, double percent);
/* The geometric mean of the ratios; NAN when n is 0. */
double comparison_geometric_mean(struct comparison *const *comparisons, size_t n);

/* "faster", "no difference found", "unclear: the data are not stable (...)", malloc'd. */
char *comparison_verdict_text(const struct comparison *comparison);
/* "faster", "slower", "same", "unclear": the words used in JSON. */
const char *comparison_verdict_name(enum verdict verdict);
/* The figures and the verdict as some lines of text, malloc'd. The caller adds the title. */
char *comparison_render(const struct comparison *comparison);
/* "-3.7 %", and "-4.4 % .. -2.9 %", or "" when there is no interval. */
#define COMPARISON_INTERVAL_SIZE (2 * UNITS_TEXT_SIZE + 8)
const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE]);
const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE]);

#endif
