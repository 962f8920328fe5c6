/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of a benchmark: its results over time or commits, and where their level changed.
 *
 * Each result is one number, the median of its units (benchmark_units()). Results of different
 * machines (all containers count as one), by different clocks or in different environments of asv,
 * are separate histories. Where all results can be compared by their controls
 * (judge/report/control.h), the numbers are what the program would take where the control takes its
 * median, so that a different state of the machine on another day does not look like a change. By
 * how many times as much as its control a program is slowed down is learnt from the history, and
 * what may be left of a change of the control is no change of the program.
 *
 * Histories are looked at again and again, after each new result. All looks at all histories of the
 * files together tell a change where there is none in at most 5 % (judge/stats/multiple.h). The
 * results in their order are the record of the looks: what was found at an earlier look is what the
 * results up to there give now, unless one has come in between since, or is gone.
 */
#ifndef QUIESCE_JUDGE_REPORT_TREND_H
#define QUIESCE_JUDGE_REPORT_TREND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/result/benchmark.h"
#include "judge/result/reader.h"
#include "judge/stats/level.h"

struct trend_point {
	const struct benchmark *benchmark;
	const struct benchmark *control; /* NULL when it has none */
	const char *file;
	const char *commit; /* NULL when the file does not say */
	/* "2026-11-20 10:14:10": of the commit in UTC, where every result of the history has one
	 * that can be read, else of the first run; "" when that is not known. */
	char date[BENCHMARK_DATE_SIZE];
	double value;
	size_t order; /* as the files were given */
};

struct trend {
	const char *name;  /* of the benchmark */
	char *machine;	   /* "AMD EPYC (host)", "5 machines", "" when nothing is known of it */
	const char *clock; /* quiesce_clock, "" when it is not known; borrowed */
	const char *environment; /* of asv, "" when there is none; borrowed */
	const struct unit *unit;
	struct trend_point *points; /* by date, and by order where dates are equal or missing */
	size_t n;
	/* Where all results have the date of their commit, the first of these dates that cannot be
	 * read, and its file; else NULL. Both are borrowed. */
	const char *unreadable_date;
	const char *unreadable_file;
	bool by_control;
	/* Where the values are by their control: its medians, by how many times as much the machine
	 * moves the program, and by how much that may be wrong. */
	double *control_values;
	double control_slope;
	double slope_error;
	/* Changes of level that are none, or in the other direction, with another slope that is not
	 * excluded; their levels are one. */
	size_t n_by_machine;
	/* How many results were measured later than one that follows them here, and the file of the
	 * last of them, borrowed: earlier looks did not have them in their places. */
	size_t n_late;
	const char *late_file;
	struct levels *levels; /* of the points' values; one level when there are too few */
};

struct trends {
	struct trend *items; /* in the order in which they are met in the files */
	size_t n;
	size_t n_together; /* histories of all benchmarks in the files, also of those not asked for
			    */
};

/*
 * The histories of all benchmarks of these results, or of those with this name; controls have no
 * history of their own, and benchmarks without values have no point. All pointers into the suites
 * and `files` are borrowed. -ERANGE when results are compared by their controls and a value has no
 * ratio to its control.
 */
int trends_new(struct suite *const *suites, char *const *files, size_t n, const char *name,
	struct trends **ret);
void trends_free(struct trends *trends);
DEFINE_CLEANUP(trends, trends_free);

/* "sort on AMD EPYC (host), clock kernel: 40 results, 2 changes", malloc'd. needed: so many results
 * it takes to find a change. */
char *trend_headline(const struct trend *trend, size_t needed);
/* The change of level `i` (1 or above) against the one before, as (new - old) / |old|. */
double trend_change(const struct trend *trend, size_t i);
/* Whether that change is for the worse by more than `percent`: upwards, or downwards for a rate
 * (benchmark_is_gain()). */
bool trend_is_worse(const struct trend *trend, size_t i, double percent);

#endif
