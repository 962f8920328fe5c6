// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "judge/stats/stats.h"

enum {
	ENOUGH_FOR_BEST = 20,
};

/* By how much of a step a multiple of it may be off. */
#define STEP_ROUNDING 0.001

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

static void sift_down(double *heap, size_t root, size_t n)
{
	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= n)
			return;
		if (child + 1 < n && heap[child] < heap[child + 1])
			child++;
		if (heap[root] >= heap[child])
			return;
		swap(&heap[root], &heap[child]);
		root = child;
	}
}

static void sort_heap(double *values, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(values, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(&values[0], &values[end]);
		sift_down(values, 0, end);
	}
}

static void sort_insertion(double *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double value = values[i];
		size_t k = i;

		for (; k > 0 && values[k - 1] > value; k--)
			values[k] = values[k - 1];
		values[k] = value;
	}
}

static double median_of_three(double a, double b, double c)
{
	if (a < b)
		return b < c ? b : MAX(a, c);
	return a < c ? a : MAX(b, c);
}

/*
 * Quicksort that falls back to heapsort on bad partitions. qsort(3) of glibc before 2.37 allocates
 * a second array, and newer ones are several times slower because they call a comparison function.
 */
static void sort_range(double *values, size_t n, int depth)
{
	while (n > 24) {
		double pivot;
		size_t i = 0, j = n - 1;

		if (depth-- == 0) {
			sort_heap(values, n);
			return;
		}
		pivot = median_of_three(values[0], values[n / 2], values[n - 1]);
		/* Hoare's partition: both sides stop at values equal to the pivot, so that many
		 * equal values are distributed evenly. The pivot itself keeps i and j inside the
		 * array. */
		for (;;) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&values[i], &values[j]);
			i++;
			j--;
		}
		/* [0, i) <= pivot <= [i, n). Recursion into the shorter part bounds the stack depth
		 * to log n. */
		if (i < n - i) {
			sort_range(values, i, depth);
			values += i;
			n -= i;
		} else {
			sort_range(values + i, n - i, depth);
			n = i;
		}
	}
	sort_insertion(values, n);
}

void stats_sort(double *values, size_t n)
{
	int depth = 0;

	for (size_t k = n; k > 1; k /= 2)
		depth += 2;
	sort_range(values, n, depth);
}

double stats_percentile(const double *sorted, size_t n, double p)
{
	double k = (double)(n - 1) * p;
	double below = floor(k), above = ceil(k);

	if (below == above)
		return sorted[(size_t)k];
	return sorted[(size_t)below] * (above - k) + sorted[(size_t)above] * (k - below);
}

double stats_median(const double *sorted, size_t n)
{
	if (n % 2 == 1)
		return sorted[n / 2];
	/* Halved before the sum, because the sum of two huge values would overflow. For tiny values
	 * halving would lose bits, but their sum is exact. */
	if (fabs(sorted[n / 2]) > 1 || fabs(sorted[n / 2 - 1]) > 1)
		return sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
	return (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double stats_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

double stats_find_median(const double *values, size_t n, double *scratch)
{
	memcpy(scratch, values, n * sizeof(*scratch));
	stats_sort(scratch, n);
	return stats_median(scratch, n);
}

double stats_best(double *values, size_t n)
{
	stats_sort(values, n);
	return stats_percentile(values, n, n < ENOUGH_FOR_BEST ? 1 : 0.95);
}

double stats_deviation(const double *sorted, size_t n, double center)
{
	/* Deviations grow from the center in both directions, so merging both sides visits them in
	 * ascending order without an array. */
	size_t right = 0, left, taken = 0;
	double previous = 0, current = 0;

	for (size_t low = 0, high = n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] < center)
			low = middle + 1;
		else
			high = middle;
		right = low;
	}
	left = right;
	while (taken < n / 2 + 1) {
		previous = current;
		if (left > 0 && (right >= n || center - sorted[left - 1] <= sorted[right] - center))
			current = center - sorted[--left];
		else
			current = sorted[right++] - center;
		taken++;
	}
	if (n % 2 == 1)
		return current;
	return previous > 1 || current > 1 ? previous / 2 + current / 2 : (previous + current) / 2;
}

/* A sum and its accumulated rounding error (Neumaier 1974). */
struct sum {
	double high;
	double low;
};

static void sum_add(struct sum *sum, double value)
{
	double t = sum->high + value;

	if (fabs(sum->high) >= fabs(value))
		sum->low += (sum->high - t) + value;
	else
		sum->low += (value - t) + sum->high;
	sum->high = t;
}

/* Mean and standard deviation in two passes. The values are scaled by a power of two to a magnitude
 * of at most 1: this is exact, and neither squares nor sums overflow or underflow. */
static void compute_moments(const double *values, size_t n, struct stats *ret)
{
	double largest = MAX(fabs(values[0]), fabs(values[n - 1]));
	struct sum sum = { 0 }, squares = { 0 }, rest = { 0 };
	double mean, variance;
	int exponent = 0;

	if (largest > 0)
		frexp(largest, &exponent);
	for (size_t i = 0; i < n; i++)
		sum_add(&sum, ldexp(values[i], -exponent));
	mean = (sum.high + sum.low) / (double)n;
	ret->sum = ldexp(sum.high + sum.low, exponent);
	ret->mean = ldexp(mean, exponent);
	ret->stdev = NAN;
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		double deviation = ldexp(values[i], -exponent) - mean;

		sum_add(&squares, deviation * deviation);
		sum_add(&rest, deviation);
	}
	/* Corrects for the rounding of the mean: `rest` is 0 with the exact mean (Chan, Golub,
	 * LeVeque 1983). */
	variance = (squares.high + squares.low -
			   (rest.high + rest.low) * (rest.high + rest.low) / (double)n) /
		(double)(n - 1);
	ret->stdev = variance > 0 ? ldexp(sqrt(variance), exponent) : 0;
}

/* The log of the probability of exactly k heads in n tosses of a fair coin. */
static double log_binomial(size_t n, size_t k)
{
	int sign;

	return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
		lgamma_r((double)(n - k) + 1, &sign) - (double)n * log(2);
}

/* P(at most k heads in n tosses of a fair coin), k < n / 2. The terms decrease fast away from the
 * middle, so only O(sqrt n) of them are added. */
static double binomial_tail(size_t n, size_t k)
{
	double term = exp(log_binomial(n, k)), tail = 0;

	for (size_t i = k + 1; i-- > 0;) {
		tail += term;
		if (term < tail * 1e-17)
			break;
		term *= (double)i / (double)(n - i + 1);
	}
	return tail;
}

/*
 * The interval from the l-th smallest to the l-th largest value misses the median when fewer than l
 * values are on one side of the median: probability 2 * P(Bin(n, 1/2) <= l - 1). This function
 * finds the largest l for which the probability is at most 5 % (Conover, Practical Nonparametric
 * Statistics, 3.2).
 */
static void compute_interval(const double *sorted, size_t n, struct stats *ret)
{
	double guess;
	size_t l;

	ret->has_interval = false;
	ret->interval_low = ret->interval_high = NAN;
	if (n < 6)
		return;
	guess = ((double)n - 1.96 * sqrt((double)n)) / 2;
	l = guess < 1 ? 1 : (size_t)guess;
	while (l > 1 && 2 * binomial_tail(n, l - 1) > 0.05)
		l--;
	while (l + 1 <= (n + 1) / 2 && 2 * binomial_tail(n, l) <= 0.05)
		l++;
	ret->has_interval = true;
	ret->interval_low = sorted[l - 1];
	ret->interval_high = sorted[n - l];
}

int stats_compute(double *values, size_t n, struct stats *ret)
{
	struct stats s = { .n = n };
	double range;

	if (n == 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return -EDOM;
	stats_sort(values, n);
	s.min = values[0];
	s.max = values[n - 1];
	compute_moments(values, n, &s);
	s.median = stats_median(values, n);
	s.mad = stats_deviation(values, n, s.median);
	s.spread = s.mean != 0 ? (s.max - s.min) / fabs(s.mean) : NAN;
	s.p5 = stats_percentile(values, n, 0.05);
	s.q1 = stats_percentile(values, n, 0.25);
	s.q3 = stats_percentile(values, n, 0.75);
	s.p95 = stats_percentile(values, n, 0.95);
	range = s.q3 - s.q1;
	s.fence_low = s.q1 - 1.5 * range;
	s.fence_high = s.q3 + 1.5 * range;
	for (size_t i = 0; i < n && values[i] < s.fence_low; i++)
		s.n_outliers_low++;
	for (size_t i = n; i > 0 && values[i - 1] > s.fence_high; i--)
		s.n_outliers_high++;
	compute_interval(values, n, &s);
	*ret = s;
	return 0;
}

double stats_median_error(const struct stats *stats)
{
	if (!stats->has_interval || stats->median == 0)
		return NAN;
	return (stats->interval_high - stats->interval_low) / 2 / fabs(stats->median);
}

size_t stats_count_below(const double *sorted, size_t n, double value, bool equal)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] < value || (equal && sorted[middle] == value))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether these values are all multiples of the step, but for what their clock rounds. */
static bool are_multiples(const double *values, size_t n, double step)
{
	for (size_t i = 0; i < n; i++)
		if (fabs(values[i] / step - round(values[i] / step)) > STEP_ROUNDING)
			return false;
	return true;
}

double stats_find_step(const double *a, size_t n_a, const double *b, size_t n_b)
{
	double step = INFINITY, before = NAN;
	size_t n_different = 0;

	for (size_t i = 0, k = 0; i < n_a || k < n_b;) {
		double value = k == n_b || (i < n_a && a[i] <= b[k]) ? a[i++] : b[k++];

		if (value == before)
			continue;
		n_different++;
		if (!isnan(before))
			step = MIN(step, value - before);
		before = value;
	}
	if (n_different < 2 || 4 * n_different > n_a + n_b || !are_multiples(a, n_a, step) ||
		!are_multiples(b, n_b, step))
		return 0;
	return step;
}

double stats_common_divisor(double a, double b)
{
	while (b > 0) {
		double rest = fmod(a, b);

		a = b;
		b = rest;
	}
	return a;
}
