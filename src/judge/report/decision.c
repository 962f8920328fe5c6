// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/decision.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

/* Of a look at each program alone, which confirms what the pairs show, or refutes it. */
#define ALONE_CERTAIN 0.01

enum {
	LOOK_AGAIN = 8, /* after 1 / N more pairs */
};

static const char *const verdict_names[] = {
	[DECISION_NOT_SETTLED] = "not settled",
	[DECISION_SLOWER] = "slower",
	[DECISION_NOT_SLOWER] = "not slower",
	[DECISION_FASTER] = "faster",
	[DECISION_NOT_FASTER] = "not faster",
};

/* What the two questions may end with. Where both claims are settled by the same pair, both are
 * true, and the one that warns is the verdict: it comes first. */
static const enum decision_verdict answers[][2] = {
	{ DECISION_SLOWER, DECISION_NOT_SLOWER },
	{ DECISION_NOT_FASTER, DECISION_FASTER },
};

size_t decision_least_pairs(double wanted)
{
	size_t n = 1;

	while (sign_evalue(n, n) < MAX(wanted, decision_evalue(1)))
		n++;
	return n;
}

void decision_begin(struct decision *decision, double percent, size_t n_together)
{
	*decision = (struct decision){
		.percent = percent,
		.wanted = decision_evalue(n_together),
		.wanted_not = decision_evalue(n_together),
		.wanted_alone = decision_evalue(n_together),
		.ratio = NAN,
		.low = NAN,
		.high = NAN,
		.mean_ratio = NAN,
		.alone = NAN,
		.carried = NAN,
		.coarse = NAN,
		.sense = sense_of_time,
	};
}

/* `sign` is above 0 when the pair speaks for the claim, below 0 when it speaks against it. Of an
 * exact figure, no other pair says anything else. */
static void claim_add(const struct decision *d, struct claim *claim, double sign)
{
	if (isnan(sign) || sign == 0)
		return;
	claim->n_signed++;
	claim->n_for += sign > 0;
	claim->e = MAX(claim->e, sign_evalue(claim->n_for, claim->n_signed));
	if (d->sense.is_exact && sign > 0)
		claim->e = MAX(claim->e, d->wanted);
}

/* The logarithm of the ratio of costs; infinite where one of both is 0, as errors and allocations
 * often are. */
static double find_change(const struct decision *d, double old, double new)
{
	if (old == new)
		return 0;
	return log(sense_cost(&d->sense, new / old));
}

bool decision_is_claim(enum decision_verdict verdict)
{
	return verdict == DECISION_SLOWER || verdict == DECISION_FASTER;
}

static const struct claim *get_claim(const struct decision *d, enum decision_verdict verdict)
{
	switch (verdict) {
	case DECISION_SLOWER:
		return &d->slower;
	case DECISION_FASTER:
		return &d->faster;
	case DECISION_NOT_FASTER:
		return &d->not_faster;
	default:
		return &d->not_slower;
	}
}

static void settle(struct decision *d, enum decision_verdict verdict, double e)
{
	d->verdict = verdict;
	if (!decision_is_claim(verdict))
		d->wanted = d->wanted_not;
	d->settled_e = e;
	d->settled_after = d->n_pairs;
}

void decision_undo(struct decision *decision)
{
	decision->verdict = DECISION_NOT_SETTLED;
	decision->settled_after = 0;
	decision->wanted = decision->wanted_alone;
}

void decision_add(struct decision *decision, double old, double new)
{
	struct decision *d = decision;
	double change = find_change(d, old, new), margin = d->percent / 100;

	claim_add(d, &d->slower, change - log(sense_worse_by(&d->sense, margin / 2)));
	claim_add(d, &d->not_slower, log(sense_worse_by(&d->sense, margin)) - change);
	claim_add(d, &d->faster, log(sense_better_by(&d->sense, margin / 2)) - change);
	claim_add(d, &d->not_faster, change - log(sense_better_by(&d->sense, margin)));
	d->n_pairs++;
	if (d->verdict != DECISION_NOT_SETTLED)
		return;
	/* One pair moves the e-values of both claims only where its change lies between the two
	 * bounds. */
	for (size_t i = 0; i < 2 && d->verdict == DECISION_NOT_SETTLED; i++) {
		enum decision_verdict verdict = answers[d->is_for_better][i];
		double e = get_claim(d, verdict)->e;

		if (e >= (decision_is_claim(verdict) ? d->wanted : d->wanted_not))
			settle(d, verdict, e);
	}
	if (d->sense.is_exact)
		d->of_alone = DECISION_ALONE_SAME;
}

/* The e-value now of a claim that may still be settled; that of a settled one is as it was then. */
static double evalue_now(const struct decision *d, enum decision_verdict verdict)
{
	const struct claim *claim = get_claim(d, verdict);

	if (d->verdict != DECISION_NOT_SETTLED)
		return d->verdict == verdict ? d->settled_e : 0;
	return claim->n_signed > 0 ? sign_evalue(claim->n_for, claim->n_signed) : 0;
}

bool decisions_settle(struct decision *const decisions[], size_t n, bool is_over)
{
	bool has_changed = false;
	_cleanup_free_ double *e = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*e)));

	for (size_t at = 0; n > 0 && at < 2; at++) {
		enum decision_verdict verdict = answers[decisions[0]->is_for_better][at];
		double wanted;

		for (size_t i = 0; i < n; i++)
			e[i] = is_over && decisions[i]->verdict == DECISION_NOT_SETTLED
				? 0
				: evalue_now(decisions[i], verdict);
		wanted = find_evalue_discoveries(e, n);
		for (size_t i = 0; i < n; i++) {
			struct decision *d = decisions[i];
			double before = d->wanted;

			if (e[i] >= wanted && d->verdict == DECISION_NOT_SETTLED)
				settle(d, verdict, e[i]);
			else if (e[i] < wanted && d->verdict == verdict)
				decision_undo(d);
			if (d->verdict == verdict)
				d->wanted = wanted;
			has_changed |= d->wanted != before;
		}
	}
	return has_changed;
}

/* The step of these times, as a part of their medians. */
static double find_step(const double *old, const double *new, size_t n)
{
	_cleanup_free_ double *a = xptr(reallocarray(NULL, MAX(n, (size_t)1), 2 * sizeof(*a)));
	double *b = a + n;

	memcpy(a, old, n * sizeof(*a));
	memcpy(b, new, n * sizeof(*b));
	stats_sort(a, n);
	stats_sort(b, n);
	return stats_find_step(a, n, b, n) / MIN(stats_median(a, n), stats_median(b, n));
}

void decision_estimate(struct decision *decision, const double *old, const double *new, size_t n)
{
	_cleanup_free_ double *ratios =
		xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*ratios)));
	size_t n_ratios = 0, least;

	for (size_t i = 0; i < n; i++) {
		double ratio = new[i] / old[i];

		if (isfinite(ratio) && ratio > 0)
			ratios[n_ratios++] = ratio;
	}
	if (n_ratios == 0)
		return;
	stats_sort(ratios, n_ratios);
	decision->ratio = stats_median(ratios, n_ratios);
	if (decision->sense.is_exact)
		decision->low = decision->high = decision->ratio;
	else
		decision->low = decision->high = NAN;
	least = sign_evalue_least(n_ratios, decision->wanted);
	if (least <= n_ratios) {
		/* Every value below `low` is refuted, because at least `least` ratios are above
		 * it. */
		decision->low = ratios[n_ratios - least];
		decision->high = ratios[least - 1];
	}
	if (decision->sense.is_exact)
		return;
	decision->mean_ratio = welch_ratio_beyond(old, n, new, n, decision->low, decision->high);
	if (decision->sense.is_speed && decision->step <= 0)
		decision->step = find_step(old, new, n);
}

bool decision_wants_look(const struct decision *decision)
{
	return decision_is_claim(decision->verdict) && decision->of_alone == DECISION_ALONE_OPEN &&
		decision->n_pairs >= decision->next_look;
}

/* The ratio of costs that the verdict is about: that of half the margin, beyond which the new
 * program is slower, or faster; or that of the margin, within which it is not. */
static double get_limit(const struct decision *d)
{
	double part = d->percent / (decision_is_claim(d->verdict) ? 200 : 100);

	return d->is_for_better ? sense_better_by(&d->sense, part)
				: sense_worse_by(&d->sense, part);
}

/* The ends of the interval of the ratio of costs. */
static double cost_low(const struct decision *d)
{
	return d->sense.is_gain ? 1 / d->high : d->low;
}

static double cost_high(const struct decision *d)
{
	return d->sense.is_gain ? 1 / d->low : d->high;
}

/* Whether the verdict is that the ratio of costs is above a limit, and not that it is below. */
static bool is_above(const struct decision *d)
{
	return d->verdict == DECISION_SLOWER || d->verdict == DECISION_NOT_FASTER;
}

static bool may_be_carryover(const struct decision *d, const struct carryover *carryover)
{
	bool above = is_above(d);

	return d->verdict != DECISION_NOT_SETTLED &&
		carryover_explains(carryover, CARRYOVER_SIGNIFICANCE / 2,
			above ? cost_low(d) : cost_high(d), get_limit(d), above);
}

/* Whether rounding to steps that are larger than the margin may be what the verdict goes by. */
static bool may_be_rounding(const struct decision *d)
{
	double limit = get_limit(d);

	if (!(d->step > d->percent / 100) || d->sense.is_exact ||
		d->verdict == DECISION_NOT_SETTLED)
		return false;
	return is_above(d) ? !(cost_low(d) > limit * (1 + d->step))
			   : !(cost_high(d) < limit / (1 + d->step));
}

void decision_look(struct decision *decision, const struct carryover *carryover)
{
	struct decision *d = decision;
	bool is_carried = may_be_carryover(d, carryover);
	double p_same = carryover_alone_p(carryover, get_limit(d), !d->is_for_better);
	double p_other = carryover_alone_p(carryover, get_limit(d), d->is_for_better);

	d->next_look = d->n_pairs + MAX((size_t)1, d->n_pairs / LOOK_AGAIN);
	if (!carryover->is_known || p_same <= (is_carried ? ALONE_CERTAIN : CARRYOVER_ALONE)) {
		d->of_alone = DECISION_ALONE_SAME;
		d->settled_after = d->n_pairs;
	} else if (p_other <= ALONE_CERTAIN || (is_carried && d->n_pairs >= 2 * d->settled_after)) {
		d->of_alone = DECISION_ALONE_OTHERWISE;
	}
}

bool decision_is_settled(const struct decision *decision)
{
	return decision->verdict != DECISION_NOT_SETTLED &&
		(!decision_is_claim(decision->verdict) ||
			decision->of_alone != DECISION_ALONE_OPEN);
}

/* Whether the runs of each alone, or what one leaves to the next, leave the verdict open. */
static bool is_undone(struct decision *d, const struct carryover *carryover)
{
	if (d->sense.is_exact)
		return false;
	if (decision_is_claim(d->verdict) && d->of_alone == DECISION_ALONE_OPEN)
		decision_look(d, carryover);
	if (decision_is_claim(d->verdict) && d->of_alone == DECISION_ALONE_SAME &&
		carryover->is_known)
		return false;
	if (may_be_carryover(d, carryover))
		d->carried = sense_cost(&d->sense, exp(carryover->change));
	else if (decision_is_claim(d->verdict) && d->of_alone != DECISION_ALONE_SAME)
		d->alone = isnan(carryover->alone_change)
			? 0
			: sense_cost(&d->sense, exp(carryover->alone_change));
	else
		return false;
	return true;
}

void decision_conclude(struct decision *decision, const struct carryover *carryover)
{
	struct decision *d = decision;

	if (!is_undone(d, carryover)) {
		if (!may_be_rounding(d))
			return;
		d->coarse = d->step;
	}
	decision_undo(d);
}

bool decision_is_beyond(const struct decision *decision, double percent)
{
	return decision->verdict == DECISION_SLOWER &&
		cost_low(decision) > sense_worse_by(&decision->sense, percent / 100);
}

const char *decision_claim_word(const struct decision *decision)
{
	bool is_speed = decision->sense.is_speed;

	return decision->is_for_better ? is_speed ? "faster" : "better"
		: is_speed	       ? "slower"
				       : "worse";
}

const char *decision_verdict_name(enum decision_verdict verdict)
{
	return verdict_names[verdict];
}

int decision_find_verdict(const char *name, enum decision_verdict *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(verdict_names); i++) {
		if (strcmp(name, verdict_names[i]) != 0)
			continue;
		*ret = (enum decision_verdict)i;
		return 0;
	}
	return -ENOENT;
}

/* The numbers among the metadata, with their place in struct decision. */
static const struct {
	const char *name;
	size_t offset;
	bool wanted; /* no decision is without it */
} numbers[] = {
	{ "quiesce_decide", offsetof(struct decision, percent), true },
	{ "quiesce_decide_e_wanted", offsetof(struct decision, wanted), true },
	{ "quiesce_decide_e_wanted_alone", offsetof(struct decision, wanted_alone), false },
	{ "quiesce_decide_e_slower", offsetof(struct decision, slower.e), true },
	{ "quiesce_decide_e_not_slower", offsetof(struct decision, not_slower.e), true },
	{ "quiesce_decide_e_faster", offsetof(struct decision, faster.e), true },
	{ "quiesce_decide_e_not_faster", offsetof(struct decision, not_faster.e), true },
	{ "quiesce_decide_ratio", offsetof(struct decision, ratio), false },
	{ "quiesce_decide_ratio_low", offsetof(struct decision, low), false },
	{ "quiesce_decide_ratio_high", offsetof(struct decision, high), false },
	{ "quiesce_decide_ratio_mean", offsetof(struct decision, mean_ratio), false },
	{ "quiesce_decide_carried", offsetof(struct decision, carried), false },
	{ "quiesce_decide_alone", offsetof(struct decision, alone), false },
	{ "quiesce_decide_step", offsetof(struct decision, coarse), false },
};

void decision_write(const struct decision *decision, struct facts *facts)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		facts_set_real(facts, numbers[i].name,
			*(const double *)((const char *)decision + numbers[i].offset));
	facts_set_integer(facts, "quiesce_decide_pairs", (int64_t)decision->n_pairs);
	if (decision->settled_after > 0)
		facts_set_integer(
			facts, "quiesce_decide_settled_after", (int64_t)decision->settled_after);
	facts_set_string(facts, "quiesce_decide_verdict", verdict_names[decision->verdict]);
	if (decision->is_for_better)
		facts_set_string(facts, DECISION_FOR, verdict_names[DECISION_FASTER]);
	if (*decision->sense.metric)
		facts_set_string(facts, DECISION_FIGURE, decision->sense.metric);
}

static size_t read_count(const struct facts *facts, const char *name)
{
	const struct fact *fact = facts_find(facts, name);

	return fact && fact->type == FACT_INTEGER && fact->integer > 0 ? (size_t)fact->integer : 0;
}

int decision_read(const struct facts *facts, struct decision *ret)
{
	const char *verdict = facts_find_string(facts, "quiesce_decide_verdict");
	struct decision decision = { .sense = sense_of_time };

	if (!verdict || facts_find(facts, "quiesce_stamps") ||
		decision_find_verdict(verdict, &decision.verdict) < 0)
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		double number = facts_find_real(facts, numbers[i].name);

		/* No decision has a number below 0. */
		if (!(number >= 0) && numbers[i].wanted)
			return -ENOENT;
		*(double *)((char *)&decision + numbers[i].offset) = number >= 0 ? number : NAN;
	}
	decision.is_for_better = facts_find(facts, DECISION_FOR);
	if (isnan(decision.wanted_alone))
		decision.wanted_alone = decision.wanted;
	decision.n_pairs = read_count(facts, "quiesce_decide_pairs");
	decision.settled_after = read_count(facts, "quiesce_decide_settled_after");
	*ret = decision;
	return 0;
}

static void append_change(struct text *t, const struct decision *d)
{
	char change[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	if (!isnan(d->ratio))
		text_appendf(t, ": %s", units_format_change(d->ratio - 1, change));
	if (!isnan(d->ratio) && !isnan(d->low) && !isnan(d->high))
		text_appendf(t, " (%s .. %s)", units_format_change(d->low - 1, low),
			units_format_change(d->high - 1, high));
}

/* Rounded down, so that an e-value that is not enough does not look as if it were. */
static const char *format_evalue(double e, char buf[static UNITS_TEXT_SIZE])
{
	if (e < 10)
		snprintf(buf, UNITS_TEXT_SIZE, "%.1f", floor(e * 10) / 10);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%.0f", floor(e));
	return buf;
}

/* What is missing, in the words that the two claims have in a verdict. */
static void append_missing(struct text *t, const struct decision *d)
{
	char number[UNITS_TEXT_SIZE];
	bool better = d->is_for_better;

	text_appendf(
		t, "; of the e-value %s that settles it, \"", format_evalue(d->wanted, number));
	sense_append_more_than(t, &d->sense, !better, d->percent / 2);
	text_appendf(t, "\" has %s, \"", format_evalue(better ? d->faster.e : d->slower.e, number));
	sense_append_not(t, &d->sense, !better, d->percent);
	text_appendf(
		t, "\" has %s", format_evalue(better ? d->not_faster.e : d->not_slower.e, number));
	if (d->wanted_not > 0 && d->wanted_not < d->wanted)
		text_appendf(t, " of %s", format_evalue(d->wanted_not, number));
}

/* What the old program may do to the new one. */
static const char *harm_text(const struct decision *d)
{
	if (d->is_for_better)
		return d->sense.is_speed ? "speeds up the new one" : "makes the new one better";
	return d->sense.is_speed ? "slows down the new one" : "makes the new one worse";
}

bool decision_lacks_pairs(const struct decision *decision)
{
	const struct decision *d = decision;

	return d->verdict == DECISION_NOT_SETTLED && !(d->coarse > 0) && !(d->carried > 0) &&
		isnan(d->alone);
}

/* Why it is not settled. */
static void append_reason(struct text *t, const struct decision *d)
{
	char alone[UNITS_TEXT_SIZE];

	if (d->coarse > 0) {
		text_appendf(t,
			"; it is counted in steps of %s, which is more than the margin: have it "
			"counted in smaller ones, or make the runs longer",
			units_format_percent(d->coarse, alone));
	} else if (d->carried > 0) {
		text_append(t, "; ");
		carryover_append(t, log(d->carried), d->sense.is_speed, "the old program",
			"the new program");
		text_append(t,
			", which may be all of it: have a hook remove what it leaves "
			"(--prepare sync)");
	} else if (d->alone > 0) {
		text_appendf(t,
			"; of the runs that do not follow one of the other program it is %s, so the "
			"old one may leave something that %s: have a hook remove that "
			"(--prepare sync), or allow more runs",
			units_format_change(d->alone - 1, alone), harm_text(d));
	} else if (d->alone == 0) {
		text_append(t,
			"; too few runs follow one of the same program to tell that from what the "
			"old one may leave behind");
	}
}

char *decision_text(const struct decision *decision, bool with_evalues)
{
	const struct decision *d = decision;
	char change[UNITS_TEXT_SIZE];
	struct text t = { 0 };

	switch (d->verdict) {
	case DECISION_SLOWER:
	case DECISION_FASTER:
		sense_append_more_than(
			&t, &d->sense, d->verdict == DECISION_SLOWER, d->percent / 2);
		break;
	case DECISION_NOT_SLOWER:
	case DECISION_NOT_FASTER:
		sense_append_not(&t, &d->sense, !d->is_for_better, d->percent);
		if ((d->is_for_better ? d->slower.e : d->faster.e) >= d->wanted_alone) {
			text_append(&t, ", and ");
			sense_append_more_than(&t, &d->sense, d->is_for_better, d->percent / 2);
		}
		break;
	default:
		text_append(&t, "not settled");
	}
	append_change(&t, d);
	if (d->verdict == DECISION_NOT_SETTLED)
		text_appendf(&t, ", after %zu pair%s", d->n_pairs, d->n_pairs == 1 ? "" : "s");
	else if (d->settled_after == d->n_pairs)
		text_appendf(
			&t, ", settled after %zu pair%s", d->n_pairs, d->n_pairs == 1 ? "" : "s");
	else
		text_appendf(&t, ", settled after %zu of %zu pairs", d->settled_after, d->n_pairs);
	if (d->mean_ratio > 0)
		text_appendf(&t, "; the mean changes by %s: the runs of both scatter differently",
			units_format_change(d->mean_ratio - 1, change));
	if (d->verdict == DECISION_NOT_SETTLED)
		append_reason(&t, d);
	if (decision_lacks_pairs(d) && with_evalues)
		append_missing(&t, d);
	return xptr(text_steal(&t));
}
