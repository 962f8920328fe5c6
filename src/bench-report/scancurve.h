/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scan as curves: the medians of benchmarks over a parameter that is a number (result/scan.h),
 * and how they grow with it. Benchmarks that differ in something else, in the file or in another
 * parameter, are curves of their own.
 */
#ifndef QUIESCE_BENCH_REPORT_SCANCURVE_H
#define QUIESCE_BENCH_REPORT_SCANCURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench-report/bench-report.h"
#include "bench-report/chart.h"
#include "sampler/growth.h"

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
 * The uncertainty is that of the runs: the units of each point are drawn anew with replacement,
 * many times, and the growth is found in each such scan (Efron's bootstrap). Where a point has no
 * runs of one machine, nothing of that is known: all but `known` and `best` is NAN or NULL.
 */
struct scan_growth {
	/* There are enough sizes, all are above 0, and where the constant is the best one, the
	 * points do not differ by more than their intervals and 1 %. */
	bool known;
	struct growth best; /* by the medians */
	double share;	   /* of the scans that were drawn anew, in which it is the best one, too */
	const char *other; /* the one that is best in most others; NULL when there is none */
	double other_share;
	/* `each` in 95 % of those in which it is the best one; NAN when runs do not differ. */
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
 * The curves of the benchmarks that the request selects, by request->by, or else by the first
 * parameter by which they all are curves of three points or more. -ENODATA when there is none and
 * none was asked for; -ENOENT, -E2BIG after saying what is wrong.
 */
int scan_new(const struct request *request, const struct reports *reports, struct scan *ret);
void scan_clear(struct scan *scan);
/* "1.2 us + 3.40 ns * n log n (3.31 .. 3.52 ns), in 93 % of resamples; n in 7 %", malloc'd; "" when
 * the growth is not known. */
char *scan_growth_text(const struct scan *scan, const struct scan_curve *curve);

#endif
