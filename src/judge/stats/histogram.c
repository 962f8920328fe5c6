// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/stats/histogram.h"
#include "judge/stats/stats.h"

enum {
	BINS_MAX = 1000,
	BINS_AUTO_MIN = 5,
	BINS_AUTO_MAX = 10,
	WIDTH_MIN = 20,
	WIDTH_MAX = 1000,
};

/* Sturges' rule: one more bin for twice as many values. */
static size_t choose_n_bins(size_t n)
{
	size_t bins = 1;

	for (size_t k = n; k > 1; k /= 2)
		bins++;
	return MIN(MAX(bins, (size_t)BINS_AUTO_MIN), (size_t)BINS_AUTO_MAX);
}

static void count_values(struct histogram *h, const double *sorted, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		while (at + 1 < h->n_bins &&
			!(sorted[i] < h->bins[at].high ||
				(at + 1 == h->n_bins - h->open_high &&
					sorted[i] <= h->bins[at].high)))
			at++;
		h->bins[at].n++;
	}
}

int histogram_new(const double *sorted, size_t n, size_t n_bins, struct histogram **ret)
{
	_cleanup_(histogram) struct histogram *h = NULL;
	size_t first = 0, last = n - 1;
	double q1, q3, low, high;

	if (n == 0 || n_bins > BINS_MAX)
		return -EINVAL;
	/* Sorted: values that are not finite are at the ends. */
	if (!isfinite(sorted[0]) || !isfinite(sorted[n - 1]))
		return -EDOM;
	if (n_bins == 0)
		n_bins = choose_n_bins(n);

	q1 = stats_percentile(sorted, n, 0.25);
	q3 = stats_percentile(sorted, n, 0.75);
	/* An outlier is far from the quartiles and among the outer 5 % of the values: a second mode
	 * stays in view. */
	low = MIN(q1 - 3 * (q3 - q1), stats_percentile(sorted, n, 0.05));
	high = MAX(q3 + 3 * (q3 - q1), stats_percentile(sorted, n, 0.95));
	/* The bins cover the first to the last value inside the bounds, without the empty space up
	 * to the bounds. */
	while (sorted[first] < low)
		first++;
	while (sorted[last] > high)
		last--;
	low = sorted[first];
	high = sorted[last];
	/* An open bin is not worthwhile for a tail that extends the range by at most half. */
	if (sorted[n - 1] - low <= 1.5 * (high - low))
		high = sorted[n - 1];
	if (high - sorted[0] <= 1.5 * (high - low))
		low = sorted[0];
	/* Values that differ only in the last bits go into one bin. */
	if (high - low <= 1e-12 * MAX(fabs(low), fabs(high)))
		n_bins = 1;

	h = xptr(calloc(1, sizeof(*h)));
	h->n_values = n;
	h->open_low = sorted[0] < low;
	h->open_high = sorted[n - 1] > high;
	h->n_bins = n_bins + h->open_low + h->open_high;
	h->bins = xptr(calloc(h->n_bins, sizeof(*h->bins)));
	for (size_t i = 0; i < h->n_bins; i++) {
		double step = (double)(i - h->open_low);

		if (h->open_low && i == 0) {
			h->bins[i].low = -INFINITY;
			h->bins[i].high = low;
		} else if (h->open_high && i == h->n_bins - 1) {
			h->bins[i].low = high;
			h->bins[i].high = INFINITY;
		} else {
			h->bins[i].low = low + (high - low) / (double)n_bins * step;
			h->bins[i].high = low + (high - low) / (double)n_bins * (step + 1);
		}
	}
	/* The exact bound, because the computed one may be rounded. */
	h->bins[h->n_bins - 1 - h->open_high].high = high;
	count_values(h, sorted, n);
	*ret = TAKE_PTR(h);
	return 0;
}

struct histogram *histogram_recount(const struct histogram *bins, const double *sorted, size_t n)
{
	struct histogram *h = xptr(calloc(1, sizeof(*h)));

	*h = *bins;
	h->bins = xptr(calloc(h->n_bins, sizeof(*h->bins)));
	for (size_t i = 0; i < h->n_bins; i++) {
		h->bins[i].low = bins->bins[i].low;
		h->bins[i].high = bins->bins[i].high;
	}
	h->n_values = n;
	count_values(h, sorted, n);
	return h;
}

void histogram_free(struct histogram *histogram)
{
	if (!histogram)
		return;
	free(histogram->bins);
	free(histogram);
}

/* One unit for all labels, with enough decimals to distinguish neighbouring bins. */
static struct scale choose_scale(const struct histogram *h, const struct unit *unit)
{
	const struct histogram_bin *first = &h->bins[h->open_low];
	const struct histogram_bin *last = &h->bins[h->n_bins - 1 - h->open_high];
	struct scale scale = scale_choose_unit(unit, MAX(fabs(first->low), fabs(last->high)));
	double width = (first->high - first->low) * scale.factor;
	/* A bin that begins at 2.4 must not be labelled 2: it does not hold the 2s. */
	double least = unit == &unit_integer && width != floor(width) ? 10 : 1;
	int decimals = 0;

	if (width > 0)
		while (decimals < 9 && width * pow(10, decimals) < least)
			decimals++;
	if (decimals > scale.decimals)
		scale.decimals = decimals;
	return scale;
}

char *histogram_render(const struct histogram *histogram, const struct unit *unit, int width)
{
	struct text t = { 0 };
	struct scale scale = choose_scale(histogram, unit);
	char value[UNITS_TEXT_SIZE], label[UNITS_TEXT_SIZE + 2], count[32];
	int label_width = 0, count_width = 0, bar_width;
	size_t largest = 1;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < histogram->n_bins; i++) {
			const struct histogram_bin *bin = &histogram->bins[i];
			bool below = isinf(bin->low), above = isinf(bin->high);
			int bar;

			scale_format(scale, below ? bin->high : bin->low, value);
			snprintf(label, sizeof(label), "%s%s",
				below		? "< "
					: above ? "> "
						: "",
				value);
			snprintf(count, sizeof(count), "%zu", bin->n);
			if (pass == 0) {
				label_width = MAX(label_width, (int)strlen(label));
				count_width = MAX(count_width, (int)strlen(count));
				largest = MAX(largest, bin->n);
				continue;
			}
			width = MIN(MAX(width, (int)WIDTH_MIN), (int)WIDTH_MAX);
			bar_width = MAX(width - label_width - count_width - 3, 1);
			bar = (int)lround((double)bin->n / (double)largest * bar_width);
			/* A bin with few values must not look empty. */
			if (bin->n > 0 && bar == 0)
				bar = 1;
			text_appendf(&t, "%*s: %*s", label_width, label, count_width, count);
			if (bar > 0)
				text_append(&t, " ");
			while (bar-- > 0)
				text_append(&t, "#");
			text_append(&t, "\n");
		}
	}
	return xptr(text_steal(&t));
}
