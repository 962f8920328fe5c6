// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "basic/macro.h"
#include "basic/say.h"
#include "basic/text.h"
#include "report/compare.h"
#include "result/benchmark.h"
#include "runpinned/contest.h"
#include "runpinned/measure.h"

struct contest {
	struct benchmark views[OPTIONS_MAX_COMMANDS];
	size_t n_views;
	struct comparison *comparisons[OPTIONS_MAX_COMMANDS];
	size_t n;
};

static void contest_clear(struct contest *contest)
{
	for (size_t i = 0; i < contest->n; i++)
		comparison_free(contest->comparisons[i]);
	for (size_t i = 0; i < contest->n_views; i++)
		benchmark_clear_view(&contest->views[i]);
}

static int contest_fill(struct contest *contest, const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		const struct command *command = &commands->items[i];
		struct benchmark *view = &contest->views[i];
		int r;

		r = benchmark_view(command->name, command->measurement->series, view);
		if (r < 0)
			return r;
		contest->n_views++;
		/* Borrowed, as the rest of the view. */
		view->metadata = command->facts;
		if (i == 0)
			continue;
		r = comparison_new(&contest->views[0], view, &contest->comparisons[i - 1]);
		if (r < 0)
			return r;
		contest->n++;
	}
	return comparison_settle(contest->comparisons, contest->n);
}

static int contest_write(FILE *stream, const struct contest *contest)
{
	for (size_t i = 0; i < contest->n; i++) {
		const struct comparison *c = contest->comparisons[i];
		/* A name that the user gave may hold newlines. */
		_cleanup_free_ char *old = text_escape_control(c->old->name);
		_cleanup_free_ char *new = text_escape_control(c->new->name);
		_cleanup_free_ char *text = comparison_render(c);

		if (!old || !new || !text)
			return -ENOMEM;
		print(stream, "\n%s, compared with %s:\n%s", new, old, text);
	}
	return 0;
}

int contest_print(FILE *stream, const struct commands *commands)
{
	struct contest contest = { 0 };
	int r;

	for (size_t i = 0; i < commands->n; i++)
		if (commands->items[i].measurement->n_runs == 0)
			return 0;
	r = contest_fill(&contest, commands);
	if (r >= 0)
		r = contest_write(stream, &contest);
	contest_clear(&contest);
	return r;
}
