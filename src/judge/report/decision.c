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
#include "judge/stats/evalue.h"
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
};

size_t decision_least_pairs(size_t n_together)
{
	size_t n = 1;

	while (sign_evalue(n, n) < decision_evalue(n_together))
		n++;
	return n;
}

void decision_begin(struct decision *decision, double percent, size_t n_together)
{
	*decision = (struct decision){
		.percent = percent,
		.wanted = decision_evalue(n_together),
		.ratio = NAN,
		.low = NAN,
		.high = NAN,
		.alone = NAN,
		.carried = NAN,
	};
}

/* `sign` is above 0 when the pair speaks for the claim, below 0 when it speaks against it. */
static void claim_add(struct claim *claim, double sign)
{
	if (!isfinite(sign) || sign == 0)
		return;
	claim->n_signed++;
	claim->n_for += sign > 0;
	claim->e = MAX(claim->e, sign_evalue(claim->n_for, claim->n_signed));
}

void decision_add(struct decision *decision, double old, double new)
{
	struct decision *d = decision;
	double change = log(new / old), margin = d->percent / 100;

	claim_add(&d->slower, change - log1p(margin / 2));
	claim_add(&d->not_slower, log1p(margin) - change);
	claim_add(&d->faster, log1p(-margin / 2) - change);
	claim_add(&d->not_faster, change - log1p(-margin));
	d->n_pairs++;
	if (d->verdict != DECISION_NOT_SETTLED)
		return;
	/* One pair moves the e-values of both claims only where its change lies between the two
	 * bounds. When both claims are settled by the same pair, both are true, and the one that
	 * warns is the verdict. */
	if (d->slower.e >= d->wanted)
		d->verdict = DECISION_SLOWER;
	else if (d->not_slower.e >= d->wanted)
		d->verdict = DECISION_NOT_SLOWER;
	if (d->verdict != DECISION_NOT_SETTLED)
		d->settled_after = d->n_pairs;
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
	least = sign_evalue_least(n_ratios, decision->wanted);
	if (least <= n_ratios) {
		/* Every value below `low` is refuted, because at least `least` ratios are above
		 * it. */
		decision->low = ratios[n_ratios - least];
		decision->high = ratios[least - 1];
	}
}

bool decision_wants_look(const struct decision *decision)
{
	return decision->verdict == DECISION_SLOWER && decision->of_alone == DECISION_ALONE_OPEN &&
		decision->n_pairs >= decision->next_look;
}

/* The ratio above which the new program is slower. */
static double get_limit(const struct decision *decision)
{
	return 1 + decision->percent / 200;
}

static bool may_be_carryover(const struct decision *d, const struct carryover *carryover)
{
	return (d->verdict == DECISION_SLOWER &&
		       carryover_explains(carryover, CARRYOVER_SIGNIFICANCE / 2, d->low,
			       get_limit(d), true)) ||
		(d->verdict == DECISION_NOT_SLOWER &&
			carryover_explains(carryover, CARRYOVER_SIGNIFICANCE / 2, d->high,
				1 + d->percent / 100, false));
}

void decision_look(struct decision *decision, const struct carryover *carryover)
{
	struct decision *d = decision;
	bool is_carried = may_be_carryover(d, carryover);
	double p_above = carryover_alone_p(carryover, get_limit(d), true);
	double p_below = carryover_alone_p(carryover, get_limit(d), false);

	d->next_look = d->n_pairs + MAX((size_t)1, d->n_pairs / LOOK_AGAIN);
	if (!carryover->is_known || p_above <= (is_carried ? ALONE_CERTAIN : CARRYOVER_ALONE)) {
		d->of_alone = DECISION_ALONE_SLOWER;
		d->settled_after = d->n_pairs;
	} else if (p_below <= ALONE_CERTAIN || (is_carried && d->n_pairs >= 2 * d->settled_after)) {
		d->of_alone = DECISION_ALONE_OTHERWISE;
	}
}

bool decision_is_settled(const struct decision *decision)
{
	return decision->verdict == DECISION_NOT_SLOWER ||
		(decision->verdict == DECISION_SLOWER && decision->of_alone != DECISION_ALONE_OPEN);
}

void decision_conclude(struct decision *decision, const struct carryover *carryover)
{
	struct decision *d = decision;

	if (d->verdict == DECISION_SLOWER && d->of_alone == DECISION_ALONE_OPEN)
		decision_look(d, carryover);
	if (d->verdict == DECISION_SLOWER && d->of_alone == DECISION_ALONE_SLOWER &&
		carryover->is_known)
		return;
	if (may_be_carryover(d, carryover))
		d->carried = exp(carryover->change);
	else if (d->verdict == DECISION_SLOWER && d->of_alone != DECISION_ALONE_SLOWER)
		d->alone = isnan(carryover->alone_change) ? 0 : exp(carryover->alone_change);
	else
		return;
	d->verdict = DECISION_NOT_SETTLED;
	d->settled_after = 0;
}

const char *decision_verdict_name(enum decision_verdict verdict)
{
	return verdict_names[verdict];
}

/* The numbers among the metadata, with their place in struct decision. */
static const struct {
	const char *name;
	size_t offset;
	bool wanted; /* no decision is without it */
} numbers[] = {
	{ "quiesce_decide", offsetof(struct decision, percent), true },
	{ "quiesce_decide_e_wanted", offsetof(struct decision, wanted), true },
	{ "quiesce_decide_e_slower", offsetof(struct decision, slower.e), true },
	{ "quiesce_decide_e_not_slower", offsetof(struct decision, not_slower.e), true },
	{ "quiesce_decide_e_faster", offsetof(struct decision, faster.e), true },
	{ "quiesce_decide_e_not_faster", offsetof(struct decision, not_faster.e), true },
	{ "quiesce_decide_ratio", offsetof(struct decision, ratio), false },
	{ "quiesce_decide_ratio_low", offsetof(struct decision, low), false },
	{ "quiesce_decide_ratio_high", offsetof(struct decision, high), false },
	{ "quiesce_decide_carried", offsetof(struct decision, carried), false },
	{ "quiesce_decide_alone", offsetof(struct decision, alone), false },
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
}

static size_t read_count(const struct facts *facts, const char *name)
{
	const struct fact *fact = facts_find(facts, name);

	return fact && fact->type == FACT_INTEGER && fact->integer > 0 ? (size_t)fact->integer : 0;
}

int decision_read(const struct facts *facts, struct decision *ret)
{
	const char *verdict = facts_find_string(facts, "quiesce_decide_verdict");
	struct decision decision = { 0 };
	size_t at = 0;

	if (!verdict || facts_find(facts, "quiesce_stamps"))
		return -ENOENT;
	while (at < ARRAY_SIZE(verdict_names) && strcmp(verdict, verdict_names[at]) != 0)
		at++;
	if (at == ARRAY_SIZE(verdict_names))
		return -ENOENT;
	decision.verdict = (enum decision_verdict)at;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		double number = facts_find_real(facts, numbers[i].name);

		/* No decision has a number below 0. */
		if (!(number >= 0) && numbers[i].wanted)
			return -ENOENT;
		*(double *)((char *)&decision + numbers[i].offset) = number >= 0 ? number : NAN;
	}
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
	char wanted[UNITS_TEXT_SIZE], slower[UNITS_TEXT_SIZE], not_slower[UNITS_TEXT_SIZE];

	text_appendf(t,
		"; of the e-value %s that settles it, \"slower by more than %g %%\" has %s, \"not "
		"slower by %g %%\" has %s",
		format_evalue(d->wanted, wanted), d->percent / 2,
		format_evalue(d->slower.e, slower), d->percent,
		format_evalue(d->not_slower.e, not_slower));
}

char *decision_text(const struct decision *decision)
{
	const struct decision *d = decision;
	struct text t = { 0 };
	char alone[UNITS_TEXT_SIZE];

	switch (d->verdict) {
	case DECISION_SLOWER:
		text_appendf(&t, "slower by more than %g %%", d->percent / 2);
		break;
	case DECISION_NOT_SLOWER:
		text_appendf(&t, "not slower by %g %%", d->percent);
		if (d->faster.e >= d->wanted)
			text_appendf(&t, ", and faster by more than %g %%", d->percent / 2);
		break;
	default:
		text_append(&t, "not settled");
	}
	append_change(&t, d);
	if (d->verdict == DECISION_NOT_SETTLED)
		text_appendf(&t, ", after %zu pair%s", d->n_pairs, d->n_pairs == 1 ? "" : "s");
	else if (d->settled_after == d->n_pairs)
		text_appendf(&t, ", settled after %zu pairs", d->n_pairs);
	else
		text_appendf(&t, ", settled after %zu of %zu pairs", d->settled_after, d->n_pairs);
	if (d->verdict != DECISION_NOT_SETTLED)
		return xptr(text_steal(&t));
	if (d->carried > 0) {
		text_append(&t, "; ");
		carryover_append(&t, log(d->carried), "the old program", "the new program");
		text_append(&t,
			", which may be all of it: have a hook remove what it leaves "
			"(--prepare sync)");
	} else if (d->alone > 0) {
		text_appendf(&t,
			"; of the runs after one of the same program it is %s, so the old one may "
			"leave something that slows down the new one: have a hook remove that "
			"(--prepare sync), or allow more runs",
			units_format_change(d->alone - 1, alone));
	} else if (d->alone == 0) {
		text_append(&t,
			"; too few runs follow one of the same program to tell that from what the "
			"old one may leave behind");
	} else {
		append_missing(&t, d);
	}
	return xptr(text_steal(&t));
}
