/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scan as curves: the medians of benchmarks over a parameter that is a number
 * (judge/result/scan.h), and how they grow with it. Benchmarks that differ in something else, such
 * as the file or another parameter, are on different curves.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_SCANCURVE_H
#define QUIESCE_JUDGE_BENCH_REPORT_SCANCURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/chart.h"
#include "judge/bench-report/files.h"
#include "library/growth.h"

struct scan_point {
	const char *file;
	const struct benchmark *benchmark;
	double x; /* the parameter */
	double *units;
	size_t n;
	bool has_runs; /* the units are several runs of one machine */
	double median;
	double low, high; /* the interval of the median; NAN when it is not known */
};

/*
 * The uncertainty comes from the runs: the units of each point are drawn anew with replacement,
 * many times, and the growth is found in each such scan (Efron's bootstrap). Where a point has no
 * runs of one machine, it is not known: all members but `known` and `best` are NAN or NULL.
 */
struct scan_growth {
	/* There are enough sizes, all are above 0, and where "constant" fits best, the points do
	 * not differ by more than their intervals and 1 %. */
	bool known;
	struct growth best; /* by the medians */
	double share;	    /* the share of the scans drawn anew in which it fits best too */
	const char *other;  /* what fits best in most other scans; NULL for none */
	double other_share;
	/* The range of `each` in 95 % of the scans in which it fits best; NAN when runs do not
	 * differ. */
	double each_low, each_high;
};

struct scan_curve {
	char *name;
	struct scan_point *points; /* by x */
	size_t n;
	struct scan_growth growth;
};

struct scan {
	const char *parameter; /* borrowed */
	struct scan_curve curves[CHART_MAX_SERIES];
	size_t n;
};

/*
 * The curves of the benchmarks that the request selects, over request->by, or else over the first
 * parameter that makes them all curves of three points or more. -ENODATA when there is none and
 * none was asked for; -ENOENT, -E2BIG after saying what is wrong.
 */
int scan_new(const struct request *request, const struct reports *reports, struct scan *ret);
void scan_clear(struct scan *scan);
/* "1.2 us + 3.40 ns * n log n (3.31 .. 3.52 ns), in 93 % of resamples; n in 7 %", malloc'd; "" when
 * the growth is not known. */
char *scan_growth_text(const struct scan *scan, const struct scan_curve *curve);

#endif
