// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "basic/macro.h"
#include "basic/say.h"
#include "basic/text.h"
#include "report/compare.h"
#include "result/benchmark.h"
#include "runpinned/measure.h"
#include "runpinned/ranking.h"

struct ranking {
	struct benchmark views[OPTIONS_MAX_COMMANDS];
	size_t n_views;
	struct comparison *comparisons[OPTIONS_MAX_COMMANDS];
	size_t n;
};

static void ranking_clear(struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->n; i++)
		comparison_free(ranking->comparisons[i]);
	for (size_t i = 0; i < ranking->n_views; i++)
		benchmark_clear_view(&ranking->views[i]);
}

static int ranking_fill(struct ranking *ranking, const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		const struct command *command = &commands->items[i];
		struct benchmark *view = &ranking->views[i];
		int r;

		r = benchmark_view(command->name, command->measurement->series, view);
		if (r < 0)
			return r;
		ranking->n_views++;
		/* Borrowed, like the rest of the view. */
		view->metadata = command->facts;
		if (i == 0)
			continue;
		r = comparison_new(&ranking->views[0], view, &ranking->comparisons[i - 1]);
		if (r < 0)
			return r;
		ranking->n++;
	}
	return comparison_settle(ranking->comparisons, ranking->n);
}

static int ranking_write(FILE *stream, const struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->n; i++) {
		const struct comparison *c = ranking->comparisons[i];
		/* A name that the user gave may contain newlines. */
		_cleanup_free_ char *old = text_escape_control(c->old->name);
		_cleanup_free_ char *new = text_escape_control(c->new->name);
		_cleanup_free_ char *text = comparison_render(c);

		if (!old || !new || !text)
			return -ENOMEM;
		print(stream, "\n%s, compared with %s:\n%s", new, old, text);
	}
	return 0;
}

int ranking_print(FILE *stream, const struct commands *commands)
{
	struct ranking ranking = { 0 };
	int r;

	for (size_t i = 0; i < commands->n; i++)
		if (commands->items[i].measurement->n_runs == 0)
			return 0;
	r = ranking_fill(&ranking, commands);
	if (r >= 0)
		r = ranking_write(stream, &ranking);
	ranking_clear(&ranking);
	return r;
}
