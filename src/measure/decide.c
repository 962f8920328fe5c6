// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "measure/decide.h"

/* The last round may not have been finished. */
static size_t count_pairs(const struct measurement *old, const struct measurement *new)
{
	return MIN(old->n_runs, new->n_runs);
}

static double pair_value(const struct measurement *m, size_t pair)
{
	return series_value(m->series, m->n_warmups + pair);
}

/* Estimates the change from all pairs. */
static int estimate(const struct measurement *old, struct measurement *new)
{
	size_t n = new->decision.n_pairs;
	_cleanup_free_ double *values = reallocarray(NULL, MAX(n, (size_t)1), 2 * sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		values[i] = pair_value(old, i);
		values[n + i] = pair_value(new, i);
	}
	decision_estimate(&new->decision, values, values + n, n);
	return 0;
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

static int judge(const struct commands *commands, size_t new,
	void (*take)(struct decision *, const struct carryover *))
{
	size_t n = commands->n, old = commands->items[new].old, at = 2;
	struct measurement *m = commands->items[new].measurement;
	const struct benchmark *order[OPTIONS_MAX_COMMANDS];
	struct benchmark *views;
	int r = estimate(commands->items[old].measurement, m);

	if (r < 0)
		return r;
	views = calloc(n, sizeof(*views));
	if (!views)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = benchmark_view("", commands->items[i].measurement->series, &views[i]);
		order[i == old ? 0 : i == new ? 1 : at++] = &views[i];
	}
	if (r >= 0)
		look_at_order(&m->decision, order, n, take);
	for (size_t i = 0; i < n; i++)
		benchmark_clear_view(&views[i]);
	free(views);
	/* A program that was not run. */
	return r == -ENODATA ? 0 : r;
}

int decide_look(const struct options *options, struct commands *commands, bool *ret_settled)
{
	size_t n_together = 0;
	bool settled = true;
	int r = 0;

	commands_settle_clocks(commands, false);
	for (size_t i = 0; i < commands->n; i++)
		n_together += commands->items[i].old != i;
	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		struct measurement *m = commands->items[i].measurement;
		const struct measurement *old = commands->items[commands->items[i].old].measurement;
		struct decision *d = &m->decision;

		if (m == old)
			continue;
		if (d->n_pairs == 0 || m->decision_clock != m->series->clock)
			decision_begin(d, options->decide, n_together);
		m->decision_clock = m->series->clock;
		while (d->n_pairs < count_pairs(old, m))
			decision_add(d, pair_value(old, d->n_pairs), pair_value(m, d->n_pairs));
		if (decision_wants_look(d))
			r = judge(commands, i, decision_look);
		settled = settled && decision_is_settled(d);
	}
	if (r == 0)
		*ret_settled = settled;
	return r;
}

static bool wants_alone(const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		const struct decision *d = &commands->items[i].measurement->decision;

		if (commands->items[i].old != i && d->verdict == DECISION_SLOWER &&
			!decision_is_settled(d))
			return true;
	}
	return false;
}

void decide_order(const struct commands *commands, size_t last, size_t order[])
{
	if (!wants_alone(commands))
		return;
	for (size_t i = 1; i < commands->n; i++) {
		if (order[i] == last) {
			order[i] = order[0];
			order[0] = last;
		}
	}
}

int decide_conclude(const struct options *options, struct commands *commands)
{
	bool settled;
	int r;

	/* If a signal or a failed program has ended the runs, there are runs that decide_look() has
	 * not seen yet. */
	r = decide_look(options, commands, &settled);
	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		if (commands->items[i].old != i)
			r = judge(commands, i, decision_conclude);
	}
	return r;
}

int decide_print(FILE *stream, const struct commands *commands)
{
	bool first = true;
	int r = 0;

	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		const struct command *command = &commands->items[i];
		_cleanup_free_ char *old = NULL, *new = NULL, *text = NULL;

		if (command->old == i)
			continue;
		/* A name that the user gave may contain newlines. */
		old = text_escape_control(commands->items[command->old].name);
		new = text_escape_control(command->name);
		text = decision_text(&command->measurement->decision);
		if (!old || !new || !text)
			return -ENOMEM;
		r = print_report(
			stream, "%s%s, compared with %s: %s\n", first ? "\n" : "", new, old, text);
		first = false;
	}
	return r;
}

enum exit_status decide_status(const struct commands *commands)
{
	enum exit_status status = EXIT_DONE;

	for (size_t i = 0; i < commands->n; i++) {
		if (commands->items[i].old == i)
			continue;
		switch (commands->items[i].measurement->decision.verdict) {
		case DECISION_SLOWER:
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
