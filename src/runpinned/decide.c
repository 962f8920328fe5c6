// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/macro.h"
#include "basic/text.h"
#include "runpinned/decide.h"

/* The last round may not have been finished. */
static size_t count_pairs(const struct measurement *old, const struct measurement *new)
{
	return MIN(old->n_runs, new->n_runs);
}

static double pair_value(const struct measurement *m, size_t pair)
{
	return series_value(m->series, m->n_warmups + pair);
}

void decide_look(const struct options *options, struct commands *commands, bool *ret_settled)
{
	size_t n_together = 0;

	commands_settle_clocks(commands, false);
	for (size_t i = 0; i < commands->n; i++)
		n_together += commands->items[i].old != i;
	*ret_settled = true;
	for (size_t i = 0; i < commands->n; i++) {
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
		*ret_settled = *ret_settled && d->verdict != DECISION_NOT_SETTLED;
	}
}

/* Whether the verdict may come from what one program does to the next run. */
static int find_carryover(const struct measurement *old, struct measurement *new)
{
	struct benchmark views[2] = { 0 };
	struct carryover carryover = { 0 };
	int r = benchmark_view("", old->series, &views[0]);

	if (r >= 0)
		r = benchmark_view("", new->series, &views[1]);
	if (r >= 0)
		r = carryover_find(&views[0], &views[1], &carryover);
	if (r >= 0)
		decision_carry(&new->decision, &carryover);
	benchmark_clear_view(&views[0]);
	benchmark_clear_view(&views[1]);
	return r == -ENODATA ? 0 : r;
}

static int estimate(const struct measurement *old, struct measurement *new)
{
	size_t n = new->decision.n_pairs;
	_cleanup_free_ double *values = reallocarray(NULL, MAX(n, (size_t)1), 2 * sizeof(*values));
	int r;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		values[i] = pair_value(old, i);
		values[n + i] = pair_value(new, i);
	}
	r = decision_estimate(&new->decision, values, values + n, n);
	return r < 0 ? r : find_carryover(old, new);
}

int decide_conclude(const struct options *options, struct commands *commands)
{
	bool settled;
	int r = 0;

	/* If a signal or a failed program has ended the runs, there are runs that decide_look() has
	 * not seen yet. */
	decide_look(options, commands, &settled);
	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		size_t old = commands->items[i].old;

		if (old != i)
			r = estimate(
				commands->items[old].measurement, commands->items[i].measurement);
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
