// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/compare.h"
#include "judge/report/control.h"
#include "judge/report/rank.h"
#include "judge/report/served.h"
#include "judge/report/turns.h"
#include "judge/report/wording.h"
#include "judge/result/benchmark.h"
#include "judge/result/metric.h"
#include "measure/measure.h"
#include "measure/progvalues.h"
#include "measure/ranking.h"

struct ranking {
	struct benchmark views[OPTIONS_MAX_COMMANDS]; /* the whole runs of each program */
	size_t n_views;
	/* The figures of each program (benchmark_split()), or NULL. */
	struct benchmark **figures[OPTIONS_MAX_COMMANDS];
	/* Pointers to the figures or the views, each followed by the values that the program
	 * measured itself. */
	struct benchmark **benchmarks;
	size_t n_benchmarks;
	struct comparison **comparisons;
	size_t n;
};

static void ranking_clear(struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->n; i++)
		comparison_free(ranking->comparisons[i]);
	free(ranking->comparisons);
	free(ranking->benchmarks);
	for (size_t i = 0; i < ranking->n_views; i++) {
		for (size_t k = 0; ranking->figures[i] && ranking->figures[i][k]; k++)
			benchmark_free(ranking->figures[i][k]);
		free(ranking->figures[i]);
		benchmark_clear_view(&ranking->views[i]);
	}
}

static void add_benchmark(struct ranking *ranking, struct benchmark *benchmark)
{
	ranking->benchmarks = xptr(reallocarray(
		ranking->benchmarks, ranking->n_benchmarks + 1, sizeof(struct benchmark *)));
	ranking->benchmarks[ranking->n_benchmarks++] = benchmark;
}

static int add_program(struct ranking *ranking, const struct command *command, bool with_values,
	const struct options *options)
{
	const struct measurement *m = command->measurement;
	struct benchmark *view = &ranking->views[ranking->n_views];
	size_t n_values = with_values ? progvalues_count(m->progvalues) : 0;
	struct benchmark **figures;
	int r;

	r = benchmark_view(command->name, m->series, view);
	if (r < 0)
		return r;
	ranking->n_views++;
	/* The facts still belong to the command, as the rest of the view belongs to others. */
	view->metadata = command->facts;
	view->is_asked = options->metric && strcmp(options->metric, METRIC_TIME) == 0;
	view->unit = options->unit;
	figures = ranking->figures[ranking->n_views - 1] = benchmark_split_chosen(
		view, command->is_control ? METRIC_TIME : options->metric, true);
	for (size_t i = 0; figures && figures[i]; i++)
		add_benchmark(ranking, figures[i]);
	if (!figures)
		add_benchmark(ranking, view);
	for (size_t i = 0; i < n_values; i++) {
		struct benchmark *values = progvalues_get_benchmark(
			m->progvalues, i, m->series, &command->facts, command->name);

		if (values && unit_is_time(values->unit))
			values->unit = options->unit;
		if (values)
			add_benchmark(ranking, values);
	}
	return 0;
}

static int ranking_fill(
	struct ranking *ranking, const struct commands *commands, const struct options *options)
{
	size_t n_programs = commands->n - commands->items[commands->n - 1].is_control;
	int r = 0;

	/* If there is only one program, the values that it measured itself are compared with
	 * nothing, and their names do not contain its name. */
	for (size_t i = 0; r >= 0 && i < commands->n; i++)
		r = add_program(ranking, &commands->items[i], n_programs > 1, options);
	if (r < 0)
		return r;
	ranking->comparisons = xptr(calloc(ranking->n_benchmarks, sizeof(struct comparison *)));
	for (size_t i = 0; i < ranking->n_benchmarks; i++) {
		const struct benchmark *old = NULL, *new = ranking->benchmarks[i];

		/* Values that no other program has are printed in the report of their program. */
		if (!turns_find_first(ranking->benchmarks, ranking->n_benchmarks, new, &old) ||
			!old || !unit_is_same(old->unit, new->unit))
			continue;
		r = comparison_new_among(old, new,
			(const struct benchmark *const *)ranking->benchmarks, ranking->n_benchmarks,
			&ranking->comparisons[ranking->n]);
		if (r < 0)
			return r;
		ranking->n++;
	}
	comparison_settle(ranking->comparisons, ranking->n);
	return 0;
}

/* "old: 3.2 times as long as its control ...", malloc'd; NULL where there is none. */
static char *make_control_text(const struct ranking *ranking, const struct benchmark *of)
{
	const struct benchmark *control =
		control_find(ranking->benchmarks, ranking->n_benchmarks, of);
	_cleanup_free_ char *name = NULL, *text = NULL;
	struct control_ratio ratio;

	if (benchmark_is_by_program(of) || !control || control_measure(of, control, &ratio) < 0)
		return NULL;
	name = xptr(text_escape_control(of->name));
	text = xptr(control_text(control, &ratio));
	return xformat("%s: %s", name, text);
}

/* The figure number k of a program, by the name that it has in the first one; the program's whole
 * runs where there are no figures. NULL where it lacks the figure. */
static const struct benchmark *find_figure(
	const struct ranking *ranking, size_t first, size_t program, size_t k)
{
	struct benchmark *const *figures = ranking->figures[program];

	if (!ranking->figures[first])
		return &ranking->views[program];
	for (size_t i = 0; figures && figures[i]; i++)
		if (strcmp(figures[i]->metric, ranking->figures[first][k]->metric) == 0)
			return figures[i];
	return NULL;
}

/* Writes in which order the command number `old`, and the commands that are compared with it, come
 * by their speed, or by its figure number k. */
static int write_order(FILE *stream, const struct ranking *ranking, const struct commands *commands,
	size_t old, size_t k, bool by_speed)
{
	const struct benchmark *programs[OPTIONS_MAX_COMMANDS];
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < ranking->n_views; i++) {
		const struct benchmark *figure = find_figure(ranking, old, i, k);

		if (figure && !commands->items[i].is_control && commands->items[i].old == old)
			programs[n++] = figure;
	}
	r = rank_render(programs, n, by_speed, &text);
	return r < 0 || !*text ? r : xprint_report(stream, "\n%s", text);
}

static int ranking_write(
	FILE *stream, const struct ranking *ranking, const struct commands *commands, bool by_speed)
{
	int status = 0;

	for (size_t i = 0; i < ranking->n_benchmarks; i++) {
		_cleanup_free_ char *text = make_control_text(ranking, ranking->benchmarks[i]);

		if (text)
			xprint_report(stream, "\n%s\n", text);
	}
	for (size_t i = 0; i < ranking->n; i++) {
		const struct comparison *c = ranking->comparisons[i];
		_cleanup_free_ char *title = brief_title(NULL, c->new->name, c->old->name);
		_cleanup_free_ char *text = xptr(comparison_render(c));

		xprint_report(stream, "\n%s:\n%s", title, text);
	}
	for (size_t i = 0; status >= 0 && i < commands->n; i++) {
		if (commands->items[i].old != i)
			continue;
		for (size_t k = 0;
			status >= 0 && (k == 0 || (ranking->figures[i] && ranking->figures[i][k]));
			k++)
			status = write_order(stream, ranking, commands, i, k, by_speed);
	}
	return status;
}

/* With --control alone, the ratio to that is the answer. */
static void add_to_brief(struct brief *brief, const struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->n; i++) {
		const struct comparison *c = ranking->comparisons[i];
		_cleanup_free_ char *old = served_name(c->old), *new = served_name(c->new);
		_cleanup_free_ char *title = brief_title(brief, new, old);

		brief_add_comparison(brief, title, c, false);
	}
	for (size_t i = 0; i < ranking->n_benchmarks; i++) {
		_cleanup_free_ char *text = make_control_text(ranking, ranking->benchmarks[i]);

		if (text && ranking->n == 0)
			brief_add(brief, BRIEF_VERDICT, "%s", text);
		else if (text)
			brief_add(brief, BRIEF_PROGRAM, "  control    %s", text);
	}
}

/* Writes to the stream, or adds to `brief`. */
static int rank_commands(FILE *stream, struct brief *brief, const struct options *options,
	const struct commands *commands)
{
	struct ranking ranking = { 0 };
	int r;

	for (size_t i = 0; i < commands->n; i++)
		if (commands->items[i].measurement->n_runs == 0)
			return 0;
	r = ranking_fill(&ranking, commands, options);
	if (r >= 0 && brief)
		add_to_brief(brief, &ranking);
	else if (r >= 0)
		r = ranking_write(stream, &ranking, commands, !options->sort_by_command);
	ranking_clear(&ranking);
	return r;
}

int ranking_print(FILE *stream, const struct options *options, const struct commands *commands)
{
	return rank_commands(stream, NULL, options, commands);
}

int ranking_add(struct brief *brief, const struct options *options, const struct commands *commands)
{
	return rank_commands(NULL, brief, options, commands);
}
