// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "judge/report/analysis.h"
#include "judge/report/summary.h"
#include "judge/result/benchmark.h"
#include "judge/result/metric.h"
#include "measure/report.h"

static void print_summary(FILE *stream, const struct report_input *input,
	const struct benchmark *benchmark, const struct analysis *analysis)
{
	_cleanup_free_ char *text = xptr(summary_render(&(struct summary_input){
		.benchmark = benchmark,
		.analysis = analysis,
		.cpus = input->cpus,
		.cpus_reason = input->cpus_reason,
		.meanwhile = facts_find_string(input->facts, "quiesce_meanwhile"),
		.floor = input->floor_seconds,
		.shell_seconds = input->shell_seconds,
		.notes = input->verbose,
		.width = (int)terminal_width(fileno(stream)),
	}));

	xprint_report(stream, "%s", text);
	/* Warnings on standard error, perhaps on the same terminal, have to appear after this. */
	fflush(stream);
}

static int report(FILE *stream, const struct report_input *input, const struct benchmark *benchmark)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	const struct stability *stability;
	int r;

	r = analysis_new(benchmark, &analysis);
	if (r < 0)
		return r;
	if (stream)
		print_summary(stream, input, benchmark, analysis);
	stability = analysis->stability;
	for (size_t i = 0; i < stability->n_concerns; i++) {
		const struct concern *concern = &stability->concerns[i];

		if (concern->warning && !(input->decided && concern->code == CONCERN_TOO_FEW))
			say("warning: %s%s%s", input->one_of_several ? input->name : "",
				input->one_of_several ? ": " : "", concern->text);
	}
	return 0;
}

int report_print(FILE *stream, const struct report_input *input)
{
	_cleanup_free_ struct benchmark **figures = NULL;
	struct benchmark benchmark;
	int r;

	if (input->by_program) {
		benchmark = *input->by_program;
		if (unit_is_time(benchmark.unit))
			benchmark.unit = input->unit;
		return report(stream, input, &benchmark);
	}
	r = benchmark_view(input->name, input->series, &benchmark);
	if (r < 0)
		return r;
	/* Borrowed, like the rest of the view. */
	benchmark.metadata = *input->facts;
	benchmark.unit = input->unit;
	figures = benchmark_split_chosen(&benchmark, input->metric, true);
	for (size_t i = 0; figures && figures[i]; i++) {
		struct report_input of_figure = *input;

		if (stream && i > 0)
			xprint_report(stream, "\n");
		of_figure.name = figures[i]->name;
		of_figure.one_of_several = true;
		/* Those of a run are no times of a part of it. */
		of_figure.floor_seconds = of_figure.shell_seconds = NAN;
		r = r < 0 ? r : report(stream, &of_figure, figures[i]);
		benchmark_free(figures[i]);
	}
	if (!figures)
		r = report(stream, input, &benchmark);
	benchmark_clear_view(&benchmark);
	return r;
}
