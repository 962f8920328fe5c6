/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A histogram of durations. Bins of equal width lie over the bulk of the values; what is far
 * outside (beyond three interquartile ranges from the quartiles, and at most 5 % of the values a
 * side) goes into one open bin at that end, so that one outlier does not squash the rest into a
 * single bar.
 */
#ifndef QUIESCE_STATS_HISTOGRAM_H
#define QUIESCE_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "basic/units.h"

struct histogram_bin {
	double low;  /* the first value that belongs here; -INFINITY in an open first bin */
	double high; /* the first that does not, but the last closed bin holds its high too;
			INFINITY in an open last bin */
	size_t n;
};

struct histogram {
	struct histogram_bin *bins;
	size_t n_bins;
	size_t n_values;
	bool open_low;	/* bins[0] is "< x" */
	bool open_high; /* the last one is "> x" */
};

/* n sorted values (as stats_compute() leaves them) over n_bins closed bins; 0 chooses their number
 * by the values, 10 at most. Open bins come on top of that. All values equal: one bin.
 * -EINVAL when n is 0 or n_bins is over 1000, -EDOM when a value is not finite. */
int histogram_new(const double *sorted, size_t n, size_t n_bins, struct histogram **ret);
void histogram_free(struct histogram *histogram);
DEFINE_CLEANUP(histogram, histogram_free);

/* The same bins with the counts of other values, which are sorted too: all that lies beyond the
 * first bin counts there, and the same at the end. For several benchmarks on one scale: the bins of
 * all of their values, then each counted by itself. */
int histogram_recount(
	const struct histogram *bins, const double *sorted, size_t n, struct histogram **ret);

/* A line "label: count bar\n" a bin, none wider than width columns (at least 40 are taken),
 * malloc'd; NULL when memory is short. */
char *histogram_render(const struct histogram *histogram, enum unit unit, int width);

#endif
