// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>

#include "base/macro.h"
#include "judge/stats/inference.h"
#include "judge/stats/nested.h"

#define CONFIDENCE 0.95
/* An interval that is wider by at most this factor is as good. */
#define AS_GOOD 1.05

/* After some arithmetic, logarithms of equal values may differ, but by less than this. */
#define ROUNDING 1e-12

/* Sums over machines, and over the sittings of each. */
struct sums {
	size_t n_groups;
	size_t n_values;
	double mean;	       /* of the machines */
	double squares;	       /* of the deviations of the machines' means from `mean` */
	double inverse_values; /* the sum of 1 / sittings over the machines */
	size_t df_values;
	double value_squares; /* of the sittings' deviations from their machine's mean */
	double df_runs;
	double run_squares;  /* of the runs' deviations from their sitting's mean */
	double inverse_runs; /* the sum of 1 / runs over the sittings */
};

static void add_group(const struct nested_value *values, size_t n, struct sums *sums)
{
	double mean = 0, delta;

	for (size_t i = 0; i < n; i++)
		mean += (values[i].value - mean) / (double)(i + 1);
	for (size_t i = 0; i < n; i++) {
		double n_runs = MAX(values[i].n_runs, 1.0), df = n_runs - 1;

		delta = values[i].value - mean;
		sums->value_squares += delta * delta;
		sums->inverse_runs += 1 / n_runs;
		if (isnan(values[i].run_variance) || df <= 0)
			continue;
		sums->df_runs += df;
		sums->run_squares += values[i].run_variance * n_runs * df;
	}
	sums->df_values += n - 1;
	sums->n_values += n;
	sums->inverse_values += 1 / (double)n;
	/* Welford's method. */
	delta = mean - sums->mean;
	sums->mean += delta / (double)++sums->n_groups;
	sums->squares += delta * (mean - sums->mean);
}

static struct sums add_up(const struct nested_value *values, size_t n)
{
	struct sums sums = { 0 };

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && values[end].group == values[i].group; end++)
			;
		add_group(values + i, end - i, &sums);
	}
	return sums;
}

/* The variances of the levels, each without the part that comes from the levels below. */
struct variances {
	double groups;
	double values;	     /* NAN: within `groups` */
	double runs;	     /* of a single run; NAN: within `values` */
	double total;	     /* of the mean of a machine */
	double mean_of_runs; /* of a sitting's estimate, because of its runs */
	double values_each;
};

static struct variances take_apart(const struct sums *sums)
{
	struct variances v = {
		.values = NAN,
		.runs = sums->df_runs > 0 ? sums->run_squares / sums->df_runs : NAN,
		.total = sums->squares / (double)(sums->n_groups - 1),
		.values_each = (double)sums->n_groups / sums->inverse_values,
	};
	double below;

	v.mean_of_runs = isnan(v.runs) ? 0 : v.runs * sums->inverse_runs / (double)sums->n_values;
	below = v.mean_of_runs;
	if (sums->df_values > 0) {
		v.values = MAX(sums->value_squares / (double)sums->df_values - v.mean_of_runs, 0.0);
		below += v.values;
	}
	v.groups = MAX(v.total - below / v.values_each, 0.0);
	return v;
}

/* A level that is unknown on the other side counts as unknown here too; its variance moves to the
 * level above. */
static void join_unknown(struct variances *v, const struct variances *other)
{
	if (isnan(other->runs) && !isnan(v->runs)) {
		if (isnan(v->values))
			v->groups += v->mean_of_runs / v->values_each;
		else
			v->values += v->mean_of_runs;
		v->runs = NAN;
	}
	if (isnan(other->values) && !isnan(v->values)) {
		v->groups += v->values / v->values_each;
		v->values = NAN;
	}
}

static void set_levels(
	const struct variances *v, const struct sums *a, const struct sums *b, struct nested *ret)
{
	size_t n_values = a->n_values + (b ? b->n_values : 0);
	size_t n_groups = a->n_groups + (b ? b->n_groups : 0);

	ret->spread = (struct nested_spread){ sqrt(v->groups), sqrt(v->values), sqrt(v->runs) };
	ret->n_groups = n_groups;
	ret->n_values = n_values;
	ret->groups_each =
		b ? 2 / (1 / (double)a->n_groups + 1 / (double)b->n_groups) : (double)n_groups;
	ret->values_each = (double)n_groups / (a->inverse_values + (b ? b->inverse_values : 0));
	ret->runs_each = (double)n_values / (a->inverse_runs + (b ? b->inverse_runs : 0));
}

static void set_interval(double error, struct nested *ret)
{
	double width = error > ROUNDING ? student_quantile(CONFIDENCE, ret->df) * error : 0;

	ret->low = ret->mean - width;
	ret->high = ret->mean + width;
	if (error > ROUNDING)
		ret->p = student_two_sided(ret->mean / error, ret->df);
	else
		ret->p = fabs(ret->mean) <= ROUNDING ? 1 : 0;
}

int nested_compute(const struct nested_value *values, size_t n, struct nested *ret)
{
	const struct sums sums = add_up(values, n);
	struct variances v;

	if (sums.n_groups < 2)
		return -ENODATA;
	v = take_apart(&sums);
	set_levels(&v, &sums, NULL, ret);
	ret->mean = sums.mean;
	ret->df_each = 1;
	ret->df = (double)(sums.n_groups - 1);
	set_interval(sqrt(v.total / (double)sums.n_groups), ret);
	return 0;
}

/* The degrees of freedom of Welch and Satterthwaite; 1 when nothing varies. */
static double combine_df(double error_x, double df_x, double error_y, double df_y)
{
	double sum = error_x + error_y;

	return sum > 0 ? sum * sum / (error_x * error_x / df_x + error_y * error_y / df_y) : 1;
}

int nested_compare(const struct nested_value *a, size_t n_a, const struct nested_value *b,
	size_t n_b, struct nested *ret)
{
	const struct sums x = add_up(a, n_a), y = add_up(b, n_b);
	struct variances u, v, both;
	double error_x, error_y;

	if (x.n_groups < 2 || y.n_groups < 2)
		return -ENODATA;
	u = take_apart(&x);
	v = take_apart(&y);
	error_x = u.total / (double)x.n_groups;
	error_y = v.total / (double)y.n_groups;
	ret->df = combine_df(error_x, (double)(x.n_groups - 1), error_y, (double)(y.n_groups - 1));
	ret->df_each = combine_df(u.total, 1, v.total, 1);
	join_unknown(&u, &v);
	join_unknown(&v, &u);
	both = (struct variances){ .groups = u.groups + v.groups,
		.values = u.values + v.values,
		.runs = u.runs + v.runs };
	set_levels(&both, &x, &y, ret);
	ret->mean = y.mean - x.mean;
	set_interval(sqrt(error_x + error_y), ret);
	return 0;
}

/* --- What more would bring --- */

/* Half the width of the interval with so many machines, sittings and runs. */
static double predict(
	const struct nested *nested, double groups, double df, double values, double runs)
{
	double of_runs = isnan(nested->spread.runs) ? 0 : nested->spread.runs;
	double of_values = isnan(nested->spread.values) ? 0 : nested->spread.values;
	double variance = nested->spread.groups * nested->spread.groups +
		(of_values * of_values + of_runs * of_runs / runs) / values;

	return student_quantile(CONFIDENCE, df) * sqrt(variance / groups);
}

enum level {
	GROUPS,
	VALUES,
	RUNS
};

static double predict_with(const struct nested *nested, enum level level, size_t n)
{
	return predict(nested, level == GROUPS ? (double)n : nested->groups_each,
		level == GROUPS ? nested->df_each * (double)(n - 1) : nested->df,
		level == VALUES ? (double)n : nested->values_each,
		level == RUNS ? (double)n : nested->runs_each);
}

/* The smallest number, from `least` on, with which half the interval is at most `width`; 0 when
 * there is none. A larger number never widens the interval. */
static size_t find_number(const struct nested *nested, enum level level, size_t least, double width)
{
	size_t low = least, high = NESTED_MOST;

	if (!(predict_with(nested, level, high) <= width))
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (predict_with(nested, level, middle) <= width)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static double choose_width(double width)
{
	double power;

	if (!(width > 0) || !isfinite(width))
		return NAN;
	power = pow(10, floor(log10(width)));
	/* 0.99: a width that is already reached, except for rounding, is not chosen. */
	for (int i = 0; i < 2; i++, power /= 10)
		for (int digit = 5; digit > 0; digit /= 2)
			if (digit * power < 0.99 * width)
				return digit * power;
	return power;
}

void nested_advice(const struct nested *nested, struct nested_advice *ret)
{
	double now = (nested->high - nested->low) / 2;

	*ret = (struct nested_advice){ .wanted = choose_width(now) };
	if (isnan(ret->wanted))
		return;
	ret->groups = find_number(nested, GROUPS, 2, ret->wanted);
	if (!isnan(nested->spread.values))
		ret->values = find_number(nested, VALUES, 1, ret->wanted);
	if (isnan(nested->spread.runs))
		return;
	ret->runs = find_number(nested, RUNS, 1, ret->wanted);
	ret->runs_enough = find_number(nested, RUNS, 1,
		AS_GOOD *
			predict(nested, nested->groups_each, nested->df, nested->values_each,
				nested->runs_each));
}
