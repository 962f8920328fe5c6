// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/resolution.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

/* The largest correlation of neighbours that is not excluded is Z_ONE_SIDED standard deviations
 * above the one that was found; an interval of 95 % extends Z_TWO_SIDED on either side. */
#define Z_ONE_SIDED 1.645
#define Z_TWO_SIDED 1.960
/* The middle 80 % of a normal distribution, in standard deviations. */
#define MIDDLE_RANGE 2.563

struct range resolution_find_range(const struct levels *levels)
{
	struct range range = { INFINITY, -INFINITY, NULL };

	for (size_t i = 0; i < levels->n; i++) {
		range.low = MIN(range.low, levels->items[i].median);
		range.high = MAX(range.high, levels->items[i].median);
	}
	if (levels->n > 1)
		range.how = "jump";
	if (levels->drift != 0) {
		range.how = levels->n > 1 ? "jump and drift" : "drift";
		range.low -= fabs(levels->drift) / 2;
		range.high += fabs(levels->drift) / 2;
	}
	return range;
}

char *resolution_explain_ranges(
	const struct range ranges[2], const char *what, char shown[2][2][UNITS_TEXT_SIZE])
{
	static const char *const sides[] = { "old", "new" };
	struct text t = { 0 };

	text_append(&t, "the data are not stable:");
	for (int i = 0; i < 2; i++)
		if (ranges[i].how)
			text_appendf(&t, "%s the %s %s %s between %s and %s",
				i == 1 && ranges[0].how ? ", and" : "", sides[i], what,
				ranges[i].how, shown[i][0], shown[i][1]);
	return xptr(text_steal(&t));
}

static double find_level_range(const struct levels *levels)
{
	struct range range = resolution_find_range(levels);

	if (!range.how)
		return 0;
	return range.low > 0 ? range.high / range.low - 1 : INFINITY;
}

/* What the correlation adds to the error that the median of independent runs has. */
static double find_excess(const double *sorted, size_t n, double correlation)
{
	double range = log(stats_percentile(sorted, n, 0.9) / stats_percentile(sorted, n, 0.1));
	double error = Z_TWO_SIDED * range / MIDDLE_RANGE * sqrt(2 / (double)n);
	double most = correlation + Z_ONE_SIDED / sqrt((double)n);

	if (most >= 1)
		return expm1(range);
	if (most <= 0)
		return 0;
	return expm1(MIN(error * (sqrt((1 + most) / (1 - most)) - 1), range));
}

struct resolution resolution_of_units(
	const double *units, size_t n, const struct levels *levels, double *ret_excess)
{
	_cleanup_free_ double *sorted = xptr(reallocarray(NULL, n, sizeof(*sorted)));
	struct resolution found = { 0 };

	memcpy(sorted, units, n * sizeof(*sorted));
	stats_sort(sorted, n);
	resolution_widen(&found,
		&(struct resolution){ find_level_range(levels), "a machine with such levels" });
	*ret_excess = find_excess(sorted, n, levels->autocorrelation);
	return found;
}

void resolution_widen(struct resolution *resolution, const struct resolution *by)
{
	if (by->share > resolution->share)
		*resolution = *by;
}

void resolution_add_excess(struct resolution *resolution, double excess)
{
	if (excess > resolution->share)
		resolution->why = "runs whose neighbours may be as much alike";
	resolution->share += excess * (1 + resolution->share);
}

struct resolution resolution_of_control(double change, double slope_error)
{
	double part = MAX(slope_error, RESOLUTION_OF_CONTROL);

	return (struct resolution){ expm1(part * fabs(log(change))),
		"a program that is not quite like its control" };
}

double resolution_size(const struct resolution *resolution)
{
	double learnt = resolution->df > 0
		? student_quantile(1 - SIGNIFICANCE, resolution->df) * resolution->deviation
		: 0;

	return learnt > 0 ? expm1(log1p(resolution->share) + learnt) : resolution->share;
}

void resolution_widen_interval(const struct resolution *resolution, double *low, double *high)
{
	*low /= 1 + resolution->share;
	*high *= 1 + resolution->share;
}
