// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "basic/say.h"
#include "runpinned/conclude.h"
#include "runpinned/describe.h"
#include "runpinned/measure.h"
#include "runpinned/report.h"

/* By the clock of the values, and from both sides of the runs. */
static double floor_seconds(const struct measurement *m)
{
	bool kernel = m->series->clock == WINDOW_KERNEL;
	double before = kernel ? m->floor_before.kernel_seconds : m->floor_before.user_seconds;
	double after = kernel ? m->floor_after.kernel_seconds : m->floor_after.user_seconds;

	return isfinite(after) ? (before + after) / 2 : before;
}

/* One clock for all: a difference between two clocks is none between two programs. */
static void settle_clocks(struct commands *commands, const struct save *save)
{
	bool user = save_wants_user_clock(save);

	for (size_t i = 0; i < commands->n; i++) {
		struct series *series = commands->items[i].measurement->series;

		series_settle_clock(series);
		user = user || (series->n_samples > 0 && series->clock == WINDOW_USER);
	}
	for (size_t i = 0; user && i < commands->n; i++)
		commands->items[i].measurement->series->clock = WINDOW_USER;
}

static int describe_one(struct command *command, const struct place *place,
	const struct evidence_reader *evidence, bool is_first)
{
	_cleanup_free_ char *changes = NULL;
	int r;

	r = series_flag_frequency(command->measurement->series);
	if (r < 0)
		return r;
	r = describe_outcome(command->measurement, evidence, place, &command->facts);
	if (r < 0)
		return r;
	r = describe_changes(place, &command->facts, &changes);
	if (r < 0)
		return r;
	/* Of the machine, and so the same for all. */
	if (is_first && *changes)
		say("warning: the machine was changed meanwhile: %s", changes);
	return 0;
}

static void report_one(const struct options *options, const struct place *place,
	const struct command *command, FILE *stream)
{
	const struct measurement *m = command->measurement;
	int r;

	if (m->n_runs > 0) {
		r = report_print(stream,
			&(struct report_input){
				.name = command->name,
				.cpus = place->cpus_text,
				.cpus_reason = place->reason,
				.series = m->series,
				.floor_seconds = floor_seconds(m),
				.one_of_several = options->n_commands > 1,
				.verbose = options->verbose > 0,
			});
		if (r < 0)
			say_errno(r, "cannot report");
	}
	if (options->rel_error > 0 && m->end == MEASURE_COMPLETE && !m->reached_rel_error)
		say("warning: the median%s%s is not known to %g %% after %zu runs (--max-runs)",
			options->n_commands > 1 ? " of " : "",
			options->n_commands > 1 ? command->name : "", options->rel_error,
			m->n_runs);
}

/* Runs are worth a file, and so are warm-ups when nothing was to come behind them. */
static bool is_worth_saving(const struct measurement *m)
{
	return m->n_runs > 0 || (m->n_warmups > 0 && m->end == MEASURE_COMPLETE);
}

int conclude(const struct options *options, const struct place *place, struct commands *commands,
	const struct evidence_reader *evidence, struct save *save)
{
	struct document_part parts[OPTIONS_MAX_COMMANDS];
	_cleanup_free_ char *saved = NULL;
	/* With --json, standard output is for a program. */
	FILE *stream = options->json ? stderr : stdout;
	size_t n = 0;
	int r = 0;

	settle_clocks(commands, save);
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];

		r = describe_one(command, place, evidence, i == 0);
		if (r < 0) {
			say_errno(r, "cannot describe the result");
			return r;
		}
		if (i > 0 && !options->quiet)
			fputc('\n', stream);
		report_one(options, place, command, options->quiet ? NULL : stream);
		if (is_worth_saving(command->measurement))
			parts[n++] = (struct document_part){ command->measurement->series,
				&command->facts };
	}
	if (n == 0)
		return 0;
	r = save_commit(save, parts, n, &saved);
	if (saved && !options->quiet)
		fprintf(stream, "saved in %s\n", saved);
	if (fflush(stream) != 0 && r == 0) {
		r = -errno;
		say_errno(r, "cannot write to standard output");
	}
	return r;
}
