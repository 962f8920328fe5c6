// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/fixedtime.h"
#include "judge/report/sense.h"
#include "judge/result/metric.h"
#include "measure/decide.h"
#include "measure/tries.h"

enum {
	SUITE_LEAST = 5, /* comparisons, which are a suite in the report */
};

/* The last round may not have been finished. */
static size_t count_pairs(const struct measurement *old, const struct measurement *new)
{
	return MIN(old->n_runs, new->n_runs);
}

static double pair_value(const struct commands *commands, const struct measurement *m, size_t pair)
{
	size_t run = m->n_warmups + pair;

	if (commands->awaits_figure)
		return NAN;
	return commands->metric ? series_metric_at(m->series, commands->metric, run)
				: series_value(m->series, run);
}

/* Estimates the change from all pairs. */
static void estimate(
	const struct commands *commands, const struct measurement *old, struct measurement *new)
{
	size_t n = new->decision.n_pairs;
	_cleanup_free_ double *values =
		xptr(reallocarray(NULL, MAX(n, (size_t)1), 2 * sizeof(*values)));

	for (size_t i = 0; i < n; i++) {
		values[i] = pair_value(commands, old, i);
		values[n + i] = pair_value(commands, new, i);
	}
	decision_estimate(&new->decision, values, values + n, n);
}

/* Looks at what one of the two does to the runs after it; `views` are all programs, the old one and
 * the new one first. */
static void look_at_order(struct decision *d, const struct benchmark *const views[], size_t n,
	void (*take)(struct decision *, const struct carryover *))
{
	struct carryover carryover;

	carryover_find(views[0], views[1], views + 2, n - 2, &carryover);
	take(d, &carryover);
	carryover_clear(&carryover);
}

/* The runs of a command that count, by the metric that decides, as costs. */
static int view_costs(
	const struct commands *commands, size_t i, const struct sense *sense, struct benchmark *ret)
{
	int r = benchmark_view_metric(
		"", commands->items[i].measurement->series, commands->metric, ret);

	for (size_t k = 0; r == 0 && k < ret->n_values; k++)
		ret->values[k] = sense_cost(sense, ret->values[k]);
	return r;
}

/* Nothing where a program was not run. */
static void judge(const struct commands *commands, size_t new,
	void (*take)(struct decision *, const struct carryover *))
{
	size_t n = commands->n, old = commands->items[new].old, at = 2;
	struct measurement *m = commands->items[new].measurement;
	const struct benchmark *order[OPTIONS_MAX_COMMANDS];
	_cleanup_free_ struct benchmark *views = xptr(calloc(n, sizeof(*views)));
	int r = 0;

	estimate(commands, commands->items[old].measurement, m);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = view_costs(commands, i, &m->decision.sense, &views[i]);
		order[i == old ? 0 : i == new ? 1 : at++] = &views[i];
	}
	if (r == 0)
		look_at_order(&m->decision, order, n, take);
	for (size_t i = 0; i < n; i++)
		benchmark_clear_view(&views[i]);
}

/* What is compared, and the step in which it is counted, as a part of the smaller median. */
static void set_sense(
	const struct commands *commands, const struct measurement *old, struct measurement *new)
{
	const struct measurement *both[] = { old, new };
	double step = 0;

	for (size_t i = 0; i < 2; i++) {
		struct benchmark view;
		double median;

		if (benchmark_view_metric("", both[i]->series, commands->metric, &view) < 0)
			continue;
		sense_find(&view, &new->decision.sense);
		if (benchmark_median(&view, &median) >= 0 && median > 0)
			step = MAX(step, view.step / median);
		benchmark_clear_view(&view);
	}
	new->decision.step = step;
}

/* The decisions of all comparisons; returns how many they are. */
static size_t list_decisions(
	const struct commands *commands, struct decision *ret[OPTIONS_MAX_COMMANDS])
{
	size_t n = 0;

	for (size_t i = 0; i < commands->n; i++)
		if (commands->items[i].old != i)
			ret[n++] = &commands->items[i].measurement->decision;
	return n;
}

/* Returns whether all comparisons are settled. */
static bool mark_settled(struct commands *commands)
{
	bool settled = true;

	for (size_t i = 0; i < commands->n; i++)
		commands->items[i].is_settled = true;
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];

		if (command->old == i || decision_is_settled(&command->measurement->decision))
			continue;
		commands->items[command->old].is_settled = false;
		settled = false;
	}
	for (size_t i = 0; i < commands->n; i++)
		commands->items[i].is_settled = commands->items[commands->items[i].old].is_settled;
	return settled;
}

static void begin(const struct options *options, const struct command *command, size_t n_together)
{
	struct decision *d = &command->measurement->decision;

	decision_begin(d, options->decide, n_together);
	d->is_for_better = options->improve > 0;
	if (command->decide_wanted > 0)
		d->wanted = d->wanted_alone = command->decide_wanted;
}

bool decide_look(const struct options *options, struct commands *commands)
{
	struct decision *decisions[OPTIONS_MAX_COMMANDS];
	size_t n_together = list_decisions(commands, decisions);

	commands_settle_clocks(commands, false);
	for (size_t i = 0; i < commands->n; i++) {
		struct measurement *m = commands->items[i].measurement;
		const struct measurement *old = commands->items[commands->items[i].old].measurement;
		struct decision *d = &m->decision;

		if (m == old)
			continue;
		if (d->n_pairs == 0 || m->decision_clock != m->series->clock)
			begin(options, &commands->items[i], n_together);
		/* Of pairs before, whose runs have failed, none has counted. */
		if (commands->metric && !*d->sense.metric)
			set_sense(commands, old, m);
		m->decision_clock = m->series->clock;
		while (d->n_pairs < count_pairs(old, m))
			decision_add(d, pair_value(commands, old, d->n_pairs),
				pair_value(commands, m, d->n_pairs));
	}
	/* The tries of a session are counted one by one. */
	if (!options->session)
		decisions_settle(decisions, n_together, false);
	for (size_t i = 0; i < commands->n; i++) {
		const struct command *command = &commands->items[i];

		if (command->old != i && decision_wants_look(&command->measurement->decision))
			judge(commands, i, decision_look);
	}
	return mark_settled(commands);
}

static bool wants_alone(const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		const struct decision *d = &commands->items[i].measurement->decision;

		if (commands->items[i].old != i && decision_is_claim(d->verdict) &&
			!decision_is_settled(d))
			return true;
	}
	return false;
}

void decide_order(const struct commands *commands, size_t last, size_t order[], size_t n)
{
	if (!wants_alone(commands))
		return;
	for (size_t i = 1; i < n; i++) {
		if (order[i] == last) {
			order[i] = order[0];
			order[0] = last;
		}
	}
}

/* Withdraws a verdict on times that say nothing of the work. */
static void doubt(const struct options *options, struct commands *commands, size_t i)
{
	const size_t sides[] = { commands->items[i].old, i };
	struct measurement *m = commands->items[i].measurement;
	struct benchmark views[ARRAY_SIZE(sides)] = { 0 };
	int r = options->metric || commands->metric ? -ENODATA : 0;

	for (size_t k = 0; r == 0 && k < ARRAY_SIZE(sides); k++) {
		const struct command *command = &commands->items[sides[k]];

		r = benchmark_view(command->name, command->measurement->series, &views[k]);
		views[k].metadata = command->facts;
	}
	if (r == 0)
		m->decision_doubt =
			fixedtime_find(&views[0], &views[1], m->decision.low, m->decision.high);
	if (m->decision_doubt) {
		decision_undo(&m->decision);
		if (options->quiet)
			say("not settled: %s", m->decision_doubt);
	}
	for (size_t k = 0; k < ARRAY_SIZE(sides); k++)
		benchmark_clear_view(&views[k]);
}

/* What each comparison ends with, by the e-value that it wants now. */
static void conclude(const struct options *options, struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct measurement *m = commands->items[i].measurement;
		const struct measurement *old = commands->items[commands->items[i].old].measurement;

		if (m == old)
			continue;
		/* The step may only be known by now. */
		set_sense(commands, old, m);
		judge(commands, i, decision_conclude);
		if (!m->decision_doubt)
			doubt(options, commands, i);
	}
}

void decide_conclude(const struct options *options, struct commands *commands)
{
	struct decision *decisions[OPTIONS_MAX_COMMANDS];
	size_t n = list_decisions(commands, decisions);

	/* If a signal or a failed program has ended the runs, there are runs that this has not seen
	 * yet. */
	(void)decide_look(options, commands);
	conclude(options, commands);
	/* Where a verdict is withdrawn, the others want a larger e-value, and their intervals
	 * become wider; that may withdraw the next one. */
	while (!options->session && decisions_settle(decisions, n, true))
		conclude(options, commands);
}

/* "4 comparisons: 1 slower, 2 not slower, 1 not settled, by 59 pairs", malloc'd; NULL for a
 * single one. */
static char *make_sum(const struct commands *commands)
{
	struct decision *decisions[OPTIONS_MAX_COMMANDS];
	size_t n = list_decisions(commands, decisions), pairs = 0;
	size_t n_claimed = 0, n_open = 0;
	const char *word;

	if (n <= 1)
		return NULL;
	word = decision_claim_word(decisions[0]);
	for (size_t i = 0; i < n; i++) {
		n_claimed += decision_is_claim(decisions[i]->verdict);
		n_open += decisions[i]->verdict == DECISION_NOT_SETTLED;
		pairs += decisions[i]->n_pairs;
	}
	return xformat("%zu comparisons: %zu %s, %zu not %s, %zu not settled, by %zu pairs", n,
		n_claimed, word, n - n_claimed - n_open, word, n_open, pairs);
}

int decide_print(FILE *stream, const struct commands *commands)
{
	_cleanup_free_ char *sum = NULL;
	bool first = true;
	int r = 0;

	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		const struct command *command = &commands->items[i];
		const char *doubt = command->measurement->decision_doubt;
		_cleanup_free_ char *title = NULL, *text = NULL;
		unsigned number;

		if (command->old == i)
			continue;
		title = brief_title(NULL, command->name, commands->items[command->old].name);
		text = decision_text(&command->measurement->decision, true);
		number = tries_number(commands->tries, i);
		r = xprint_report(stream, "%s%s: %s%s%s", first ? "\n" : "", title, text,
			doubt ? ": " : "", doubt ? doubt : "");
		if (r == 0 && number > 0)
			r = xprint_report(stream, "; try %u of its session", number);
		if (r == 0)
			r = xprint_report(stream, "\n");
		first = false;
	}
	sum = make_sum(commands);
	return r < 0 || !sum ? r : xprint_report(stream, "\n%s\n", sum);
}

/* Many comparisons are a table. */
static void add_suite(struct brief *brief, const struct options *options,
	const struct commands *commands, const char *sum)
{
	const char *names[OPTIONS_MAX_COMMANDS], *doubts[OPTIONS_MAX_COMMANDS];
	const struct decision *decisions[OPTIONS_MAX_COMMANDS];
	size_t n = 0;

	for (size_t i = 0; i < commands->n; i++) {
		const struct command *command = &commands->items[i];

		if (command->old == i)
			continue;
		names[n] = command->name;
		doubts[n] = command->measurement->decision_doubt;
		decisions[n++] = &command->measurement->decision;
	}
	brief_add_suite(brief, sum, names, decisions, doubts, n, options->max_runs_option);
}

static size_t count_comparisons(const struct commands *commands)
{
	struct decision *decisions[OPTIONS_MAX_COMMANDS];

	return list_decisions(commands, decisions);
}

int decide_add(struct brief *brief, const struct options *options, const struct commands *commands)
{
	_cleanup_free_ char *sum = make_sum(commands);

	if (count_comparisons(commands) >= SUITE_LEAST && !commands->tries) {
		add_suite(brief, options, commands, sum);
		return 0;
	}
	for (size_t i = 0; i < commands->n; i++) {
		const struct command *command = &commands->items[i];
		unsigned number = tries_number(commands->tries, i);
		_cleanup_free_ char *title = NULL;

		if (command->old == i)
			continue;
		title = brief_title(brief, command->name, commands->items[command->old].name);
		brief_add_decision(brief, title, &command->measurement->decision,
			command->measurement->decision_doubt, options->max_runs_option);
		if (number > 0)
			brief_add(brief, BRIEF_DOUBT, "  session    %s is try %u of it",
				command->name, number);
	}
	if (commands->tries)
		brief_add(brief, BRIEF_DOUBT,
			"  session    a find by the next try takes at least %zu pairs",
			tries_next_least(commands->tries, commands));
	if (sum)
		brief_add(brief, BRIEF_VERDICT, "%s", sum);
	return 0;
}

enum exit_status decide_status(const struct commands *commands)
{
	enum exit_status status = EXIT_DONE;

	for (size_t i = 0; i < commands->n; i++) {
		if (commands->items[i].old == i)
			continue;
		switch (commands->items[i].measurement->decision.verdict) {
		case DECISION_SLOWER:
		case DECISION_NOT_FASTER:
			return EXIT_FINDING;
		case DECISION_NOT_SETTLED:
			status = EXIT_UNSETTLED;
			break;
		default:
			break;
		}
	}
	return status;
}
