/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A histogram of durations. Bins of equal width cover the bulk of the values. Values far outside
 * (beyond three interquartile ranges from the quartiles, and at most 5 % of the values on each
 * side) are counted in one open bin at that end, so that one outlier does not squeeze all other
 * values into a single bin.
 */
#ifndef QUIESCE_JUDGE_STATS_HISTOGRAM_H
#define QUIESCE_JUDGE_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/units.h"

struct histogram_bin {
	double low;  /* the lowest value of the bin; -INFINITY in an open first bin */
	double high; /* the bin ends below this value, but the last closed bin includes it; INFINITY
			in an open last bin */
	size_t n;
};

struct histogram {
	struct histogram_bin *bins;
	size_t n_bins;
	size_t n_values;
	bool open_low;	/* bins[0] is "< x" */
	bool open_high; /* the last bin is "> x" */
};

/* Counts n sorted values (stats_compute() sorts) in n_bins closed bins; 0 chooses the number of
 * bins from the number of values, 10 at most. Open bins are additional. Equal values give one bin.
 * -EINVAL when n is 0 or n_bins is over 1000, -EDOM when a value is not finite. */
int histogram_new(const double *sorted, size_t n, size_t n_bins, struct histogram **ret);
void histogram_free(struct histogram *histogram);
DEFINE_CLEANUP(histogram, histogram_free);

/* The same bins with the counts of other values, also sorted: values below the first bin are
 * counted in the first bin, values above the last bin in the last. For several benchmarks on one
 * scale: the bins come from all values together, the counts from each benchmark. */
struct histogram *histogram_recount(const struct histogram *bins, const double *sorted, size_t n);

/* A malloc'd line "label: count bar\n" for each bin, no line wider than `width` columns (at least
 * 20 are used). */
char *histogram_render(const struct histogram *histogram, const struct unit *unit, int width);

#endif
