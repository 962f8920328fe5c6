// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/change.h"
#include "judge/report/sense.h"
#include "judge/report/turns.h"
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/stats/multiple.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

enum {
	STEPS_MAX = 60, /* of the running estimate */
};

static void change_clear(struct change *change)
{
	free(change->title);
	free(change->doubt);
	free(change->subtitle);
	curve_clear(&change->sides[0]);
	curve_clear(&change->sides[1]);
	free(change->pairs);
	free(change->steps);
}

void changes_clear(struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		change_clear(&changes->items[i]);
	free(changes->items);
	*changes = (struct changes){ 0 };
}

bool change_has_runs_of_pairs(const struct change *change)
{
	return change->sides[0].n == change->n_pairs && change->sides[1].n == change->n_pairs;
}

struct comparison change_to_show(const struct change *change)
{
	struct comparison shown = *change->comparison;

	if (!change->is_difference)
		shown.ratio = (struct ratio){ .ratio = 1 + change->change,
			.low = 1 + change->low,
			.high = 1 + change->high };
	return shown;
}

enum verdict change_verdict(const struct change *change)
{
	if (!change->is_decided)
		return change->comparison->verdict;
	switch (change->decision.verdict) {
	case DECISION_SLOWER:
		return VERDICT_SLOWER;
	case DECISION_FASTER:
		return VERDICT_FASTER;
	case DECISION_NOT_SETTLED:
		return VERDICT_UNCLEAR;
	default:
		return VERDICT_SAME;
	}
}

const char *change_interval_words(const struct change *change)
{
	if (change->is_decided)
		return "98 % interval";
	return change->level < SIGNIFICANCE ? "interval, of all compared" : "95 % interval";
}

/* --- The texts --- */

static const char *gate_words(enum gate gate)
{
	return gate == GATE_FAILS      ? "fails a gate of"
		: gate == GATE_UNCLEAR ? "unclear for a gate of"
				       : "passes a gate of";
}

static char *make_doubt(const struct change *change)
{
	const struct comparison *c = change->comparison;
	struct text t = { 0 };

	if (!change->is_decided && c->verdict == VERDICT_UNCLEAR)
		text_appendf(&t, "unclear: %s", c->unclear);
	for (size_t i = 0; i < c->n_differences; i++)
		text_appendf(&t, "%s%s",
			i > 0		       ? ", "
				: t.length > 0 ? "; differs: "
					       : "differs: ",
			c->differences[i]);
	return xptr(text_steal(&t));
}

/* The name of the benchmark, or of its file where that tells the two apart. */
static char *name_side(const struct pairs *pairs, const struct comparison *c, size_t file, int side)
{
	const struct benchmark *b = side == 0 ? c->old : c->new;
	bool by_file = pairs->reports->n > 1 && metadata_equal_strings(c->old->name, c->new->name);

	return xptr(text_escape_control(by_file ? pairs->labels[side == 0 ? 0 : file] : b->name));
}

/* --- The pairs --- */

static int find_step(struct change *change, const double *old, const double *new, size_t n,
	double *logs, struct change_step *ret)
{
	struct shift shift = { 0 };
	int r;

	if (change->is_decided) {
		struct decision decision = change->decision;

		decision_estimate(&decision, old, new, n);
		*ret = (struct change_step){ n, decision.ratio - 1,
			isnan(decision.low) ? -INFINITY : decision.low - 1,
			isnan(decision.high) ? INFINITY : decision.high - 1 };
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		logs[i] = log(old[i]);
		logs[n + i] = log(new[i]);
	}
	r = shift_of_pairs(logs, logs + n, n, &shift);
	if (r >= 0)
		*ret = (struct change_step){ n, exp(shift.estimate) - 1,
			isinf(shift.low) ? -INFINITY : exp(shift.low) - 1,
			isinf(shift.high) ? INFINITY : exp(shift.high) - 1 };
	return r;
}

static int find_steps(struct change *change, const double *old, const double *new)
{
	size_t n = change->n_pairs, stride = (n + STEPS_MAX - 1) / STEPS_MAX;
	_cleanup_free_ double *logs = xptr(reallocarray(NULL, n, 2 * sizeof(*logs)));
	int r = 0;

	change->steps = xptr(calloc(STEPS_MAX + 1, sizeof(*change->steps)));
	for (size_t k = n > STEPS_MAX ? stride : 1; r >= 0; k = MIN(n, k + stride)) {
		r = find_step(change, old, new, k, logs, &change->steps[change->n_steps++]);
		if (k == n)
			break;
	}
	return r;
}

static int fill_pairs(struct change *change)
{
	const struct comparison *c = change->comparison;
	size_t n = MIN(change->sides[0].n, change->sides[1].n);
	_cleanup_free_ double *old =
		xptr(reallocarray(NULL, MAX(change->sides[0].n, (size_t)1), sizeof(*old)));
	_cleanup_free_ double *new =
		xptr(reallocarray(NULL, MAX(change->sides[1].n, (size_t)1), sizeof(*new)));

	if (c->design != COMPARED_IN_TURN || c->n_pairs == 0)
		return 0;
	memcpy(old, change->sides[0].values, change->sides[0].n * sizeof(*old));
	memcpy(new, change->sides[1].values, change->sides[1].n * sizeof(*new));
	change->n_pairs = turns_pick_pairs(c->old, c->new, old, new);
	change->pairs = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*change->pairs)));
	for (size_t i = 0; i < change->n_pairs; i++)
		change->is_difference = change->is_difference || !(old[i] > 0 && new[i] > 0);
	for (size_t i = 0; i < change->n_pairs; i++)
		change->pairs[i] = change->is_difference ? new[i] - old[i] : new[i] / old[i] - 1;
	return change->is_difference ? 0 : find_steps(change, old, new);
}

/* --- The interval --- */

static void fill_interval(struct change *change)
{
	const struct comparison *c = change->comparison;
	const struct decision *d = &change->decision;
	struct ratio ratio = comparison_interval_at(c, change->level);
	double part = d->percent / 100, margins[2];
	struct sense sense;

	change->runs_low = change->runs_high = change->margins[0] = change->margins[1] = NAN;
	change->change = ratio.ratio - 1;
	change->low = ratio.low - 1;
	change->high = ratio.high - 1;
	if (resolution_is_there(&c->resolution) && !comparison_is_learnt(c)) {
		change->runs_low = ratio.low * (1 + c->resolution.share) - 1;
		change->runs_high = ratio.high / (1 + c->resolution.share) - 1;
	}
	if (isnan(c->ratio.ratio) || change->is_difference) {
		change->is_difference = true;
		change->change = c->new_stats.median - c->old_stats.median;
		change->low = change->high = NAN;
	}
	sense_find(c->old, &sense);
	if (!change->is_difference)
		change->gate_at =
			sense_cost(&sense, sense_worse_by(&sense, change->gate_percent / 100)) - 1;
	if (!change->is_decided)
		return;
	change->change = d->ratio - 1;
	change->low = d->low - 1;
	change->high = d->high - 1;
	for (int i = 0; i < 2; i++) {
		double part_of_it = i == 0 ? part / 2 : part;

		margins[i] = d->is_for_better ? sense_better_by(&sense, part_of_it)
					      : sense_worse_by(&sense, part_of_it);
		change->margins[i] = sense_cost(&sense, margins[i]) - 1;
	}
}

static int change_fill(struct change *change, const struct pairs *pairs, size_t at)
{
	const struct comparison *c = change->comparison = pairs->comparisons[at];
	_cleanup_free_ char *title = pairs_title(pairs, at), *text = NULL;
	_cleanup_free_ char *doubt = NULL;
	double gate_percent = pairs->request->fail_slower;
	int r = 0;

	change->level = pairs->gate_level;
	change->gate_percent = gate_percent;
	change->gate_at = NAN;
	change->gate = isnan(gate_percent) ? GATE_PASSES : pairs_gate(pairs, c);
	change->is_decided = pairs_is_decided(pairs, c, &change->decision);
	if (change->is_decided) {
		_cleanup_free_ char *said = decision_text(&change->decision, false);

		text = xformat("%s: %s", title, said);
	} else {
		text = comparison_headline(title, c, false);
	}
	if (!isnan(gate_percent)) {
		char *judged =
			xformat("%s; %s %g %%", text, gate_words(change->gate), gate_percent);

		free(text);
		text = judged;
	}
	doubt = make_doubt(change);
	change->title = xptr(text_escape_control(text));
	change->doubt = xptr(text_escape_control(doubt));
	change->subtitle = benchmark_subtitle(c->old);
	for (int i = 0; r >= 0 && i < 2; i++) {
		struct curve *side = &change->sides[i];

		side->file = pairs->request->files[i == 0 ? 0 : pairs->files[at]];
		side->benchmark = i == 0 ? c->old : c->new;
		side->name = name_side(pairs, c, pairs->files[at], i);
		r = curve_fill_units(side);
	}
	if (r >= 0)
		r = fill_pairs(change);
	fill_interval(change);
	return r;
}

int changes_new(const struct pairs *pairs, struct changes *ret)
{
	struct changes changes = { .pairs = pairs };
	int r = 0;

	changes.items = xptr(calloc(MAX(pairs->n, (size_t)1), sizeof(*changes.items)));
	for (; r >= 0 && changes.n < pairs->n; changes.n++)
		r = change_fill(&changes.items[changes.n], pairs, changes.n);
	if (r < 0)
		changes_clear(&changes);
	else
		*ret = changes;
	return r;
}
