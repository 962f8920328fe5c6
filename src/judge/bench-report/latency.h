/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long requests took, as a curve over the quantiles: of figures that are called as one ("p50",
 * "GET p99.9") by the medians of the runs, and of services that runserved measured by another
 * figure by the one number that their result has of each quantile.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_LATENCY_H
#define QUIESCE_JUDGE_BENCH_REPORT_LATENCY_H

#include <stddef.h>

#include "judge/bench-report/files.h"
#include "judge/bench-report/ink.h"

#define LATENCY_CURVES_MAX INK_N_SERIES

struct latency_point {
	double beyond; /* the part of the requests that took longer: 0.01 */
	double value;
	double low, high; /* the interval of the median; NAN when it is not known */
};

struct latency_curve {
	char *name;		      /* of the program, escaped */
	struct latency_point *points; /* the median request first */
	size_t n;
};

struct latencies {
	struct latency_curve curves[LATENCY_CURVES_MAX];
	size_t n;
};

/* Of all benchmarks of the request; those beyond LATENCY_CURVES_MAX programs are left out. *ret has
 * no curve where no program has two quantiles. */
int latencies_new(
	const struct request *request, const struct reports *reports, struct latencies *ret);
void latencies_clear(struct latencies *latencies);
/* "p99.9" */
#define LATENCY_NAME_SIZE 32
const char *latency_point_name(
	const struct latency_point *point, char buf[static LATENCY_NAME_SIZE]);

#endif
