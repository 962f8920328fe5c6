// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/settle.h"
#include "judge/stats/multiple.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

/* Whether a difference could have been found: with the smallest p that so many runs can reach, and
 * with the actual p of all other comparisons. */
static bool is_decidable(
	const struct comparison *c, const double *sorted, size_t n, size_t n_silent)
{
	/* The correction multiplies p by at most the number of tests. */
	return c->least_p * (double)(n + n_silent) <= SIGNIFICANCE ||
		adjust_changed_discovery(sorted, n, n_silent, c->p, c->least_p) <= SIGNIFICANCE;
}

/* "too few runs: 5 pairs, and at least 6 are needed to find any difference" */
static char *explain_too_few(const struct comparison *c, size_t n_compared)
{
	double wanted = SIGNIFICANCE / (double)n_compared;

	if (c->n_pairs > 0)
		return xformat("too few runs: %zu pairs, and at least %zu are needed to find any "
			       "difference",
			c->n_pairs, shift_pairs_needed(wanted));
	return xformat(
		"too few %s: %zu and %zu, and at least %zu each are needed to find any difference",
		comparison_is_of_results(c) ? "results" : "runs", c->old_stats.n, c->new_stats.n,
		shift_values_needed(wanted));
}

/* Whether the change is beyond what the machine may do between two results. */
static bool is_resolved(const struct comparison *c)
{
	if (c->resolution.share <= 0)
		return true;
	if (isnan(c->ratio.low))
		return fabs(log(c->ratio.ratio)) > log1p(c->resolution.share);
	return c->ratio.low > 1 || c->ratio.high < 1;
}

/* Whether the runs differ, but no more than sittings of the machine do, as its repeats show. */
static bool is_of_sittings(const struct comparison *c)
{
	return comparison_is_learnt(c) && c->learnt.runs.p <= SIGNIFICANCE &&
		c->adjusted_p > SIGNIFICANCE;
}

/* "measured one after the other, which shows nothing below about 20 %" */
static char *explain_unresolved(const struct comparison *c)
{
	char share[UNITS_TEXT_SIZE], control[UNITS_TEXT_SIZE];

	units_format_percent(resolution_size(&c->resolution), share);
	if (c->design == COMPARED_BY_CONTROL)
		return xformat("the control itself changed by %s, so nothing shows below about %s",
			units_format_change(c->control_ratio - 1, control), share);
	return xformat("measured one after the other, which shows nothing below about %s", share);
}

/* Whether new is larger than old in more pairs of units than it is smaller, which is the direction
 * of the tests. */
static bool is_more_often(const struct comparison *c)
{
	return c->ranks.u > (double)c->old_stats.n * (double)c->new_stats.n / 2;
}

/* Where a value has no ratio, the change is that of the medians. The medians need not tell which of
 * two different samples is larger. */
static bool has_direction(const struct comparison *c)
{
	if (!isnan(c->ratio.low) || comparison_is_of_machines(c))
		return true;
	return is_more_often(c) ? c->ratio.ratio > 1 : c->ratio.ratio < 1;
}

/* With many equal values most ratios, and so their median, may be 1. */
static bool is_less(const struct comparison *c)
{
	return c->ratio.ratio == 1 ? !is_more_often(c) : c->ratio.ratio < 1;
}

static char *explain_no_direction(const struct comparison *c)
{
	bool are_zero = c->old_stats.median == 0 && c->new_stats.median == 0;

	return xptr(strdup(are_zero
			? "they differ, but both medians are 0, which have no ratio"
			: "they differ, but the medians do not tell how, and a value that is not "
			  "above 0 has no ratio"));
}

static char *explain_carryover(const struct comparison *c, bool is_above)
{
	struct text t = { 0 };
	char alone[UNITS_TEXT_SIZE];

	if (carryover_is_found(&c->carryover)) {
		carryover_append(&t, c->carryover.change, c->old->name, c->new->name);
		text_append(&t, ", which may be all of the difference");
	} else {
		text_appendf(&t,
			"of the runs after one of the same program the change is %s, so what "
			"another one leaves behind may slow down %s",
			units_format_change(expm1(c->carryover.alone_change), alone),
			is_above ? c->new->name : c->old->name);
	}
	return xptr(text_steal(&t));
}

/* Why nothing can be concluded from the test; NULL where something can. sorted: the p of all n
 * comparisons that are asked for; n_silent more say nothing. */
static char *explain(struct comparison *c, const double *sorted, size_t n, size_t n_silent)
{
	bool is_above;

	if (!is_decidable(c, sorted, n, n_silent))
		return explain_too_few(c, n + n_silent);
	c->is_unresolved = is_of_sittings(c);
	if (c->is_unresolved)
		return explain_unresolved(c);
	if (!(c->adjusted_p <= SIGNIFICANCE))
		return NULL;
	if (!has_direction(c))
		return explain_no_direction(c);
	c->is_unresolved = !is_resolved(c);
	if (c->is_unresolved)
		return explain_unresolved(c);
	is_above = !is_less(c);
	c->is_carried = carryover_may_be_all(
		&c->carryover, is_above ? c->ratio.low : c->ratio.high, 1, is_above);
	return c->is_carried ? explain_carryover(c, is_above) : NULL;
}

static void decide(struct comparison *c, const double *sorted, size_t n, size_t n_silent)
{
	c->is_unresolved = c->is_carried = false;
	if (!c->unclear) {
		c->unclear = explain(c, sorted, n, n_silent);
		c->is_unclear_by_settling = c->unclear;
	}
	if (c->unclear)
		c->verdict = VERDICT_UNCLEAR;
	else if (c->adjusted_p > SIGNIFICANCE)
		c->verdict = VERDICT_SAME;
	else
		c->verdict =
			is_less(c) != benchmark_is_gain(c->old) ? VERDICT_FASTER : VERDICT_SLOWER;
}

void comparison_settle_chosen(struct comparison **comparisons, size_t n, size_t n_all)
{
	_cleanup_free_ double *p = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p)));
	_cleanup_free_ double *adjusted = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p)));
	size_t n_asked = 0, n_others = n_all - n;

	for (size_t i = 0; i < n; i++) {
		struct comparison *c = comparisons[i];

		/* This verdict depends on the number of comparisons, which may have changed. */
		if (c->is_unclear_by_settling)
			free(TAKE_PTR(c->unclear));
		c->is_unclear_by_settling = false;
		if (!c->unclear)
			p[n_asked++] = c->p;
	}
	memcpy(adjusted, p, n_asked * sizeof(*p));
	adjust_false_discoveries(adjusted, n_asked, n_others);
	stats_sort(p, n_asked);
	for (size_t i = 0, at = 0; i < n; i++) {
		comparisons[i]->adjusted_p = comparisons[i]->unclear ? NAN : adjusted[at];
		at += !comparisons[i]->unclear;
		decide(comparisons[i], p, n_asked, n_others);
	}
}

void comparison_settle(struct comparison **comparisons, size_t n)
{
	comparison_settle_chosen(comparisons, n, n);
}

/* From which cost on something is worse by that much: a rate that falls by half costs twice as
 * much. */
static double find_limit(const struct comparison *c, double percent)
{
	if (!benchmark_is_gain(c->old))
		return 1 + percent / 100;
	return percent < 100 ? 1 / (1 - percent / 100) : INFINITY;
}

/* Where the old value is 0, every new value is more by any percentage. */
static double find_gate_p(const struct comparison *c, double limit)
{
	if (c->verdict != VERDICT_SLOWER)
		return 1;
	return isinf(comparison_cost(c, c->ratio).ratio) ? c->p : comparison_p_above(c, limit);
}

double comparison_gate_level(struct comparison *const *comparisons, size_t n, double percent)
{
	_cleanup_free_ double *p = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p)));
	size_t n_asked = 0;

	for (size_t i = 0; i < n; i++)
		if (!comparisons[i]->unclear || comparisons[i]->is_unclear_by_settling)
			p[n_asked++] =
				find_gate_p(comparisons[i], find_limit(comparisons[i], percent));
	return level_of_discoveries(p, n_asked);
}

enum gate comparison_gate(const struct comparison *comparison, double percent, double level)
{
	const struct comparison *c = comparison;
	struct ratio cost = comparison_cost(c, c->ratio);
	double limit = find_limit(c, percent);

	if (find_gate_p(c, limit) <= level)
		return carryover_may_be_all(&c->carryover,
			       comparison_cost(c, comparison_interval_at(c, level)).low, limit,
			       true)
			? GATE_UNCLEAR
			: GATE_FAILS;
	if (c->unclear && !c->is_unresolved)
		return GATE_UNCLEAR;
	if (c->verdict == VERDICT_SLOWER && isnan(cost.low) && cost.ratio > limit)
		return GATE_UNCLEAR;
	/* Where nothing was counted, it is no more than before, whatever the machine did. */
	if (c->new_stats.max == 0 && c->old_stats.min >= 0 && !benchmark_is_gain(c->old))
		return GATE_PASSES;
	if (resolution_is_there(&c->resolution) && !(cost.high <= limit))
		return GATE_UNCLEAR;
	return GATE_PASSES;
}

char *comparison_gate_reason(const struct comparison *comparison)
{
	if (comparison->unclear)
		return xptr(strdup(comparison->unclear));
	if (comparison->n_pairs > 0 && !isnan(comparison->ratio.low))
		return explain_carryover(comparison, true);
	if (!resolution_is_there(&comparison->resolution) || isnan(comparison->ratio.high))
		return xptr(strdup("a value that is not above 0 has no ratio, so the change has no "
				   "interval"));
	return explain_unresolved(comparison);
}

const char *comparison_gate_name(enum gate gate)
{
	static const char *const names[] = {
		[GATE_PASSES] = "passes",
		[GATE_FAILS] = "fails",
		[GATE_UNCLEAR] = "unclear",
	};

	return names[gate];
}
