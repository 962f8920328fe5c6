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

static void fill_summary(const struct report_input *input, const struct benchmark *benchmark,
	const struct analysis *analysis, struct summary_input *ret)
{
	*ret = (struct summary_input){
		.benchmark = benchmark,
		.analysis = analysis,
		.cpus = input->cpus,
		.cpus_reason = input->cpus_reason,
		.meanwhile = facts_find_string(input->facts, "quiesce_meanwhile"),
		.floor = input->floor_seconds,
		.shell_seconds = input->shell_seconds,
		.notes = true,
	};
}

static void print_summary(FILE *stream, struct summary_input *summary)
{
	_cleanup_free_ char *text = NULL;

	summary->width = (int)terminal_width(fileno(stream));
	text = summary_render(summary);
	xprint_report(stream, "%s", text);
	/* Warnings on standard error, perhaps on the same terminal, have to appear after this. */
	fflush(stream);
}

static int report(FILE *stream, struct brief *brief, const struct report_input *input,
	const struct benchmark *benchmark)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	const struct stability *stability;
	struct summary_input summary;
	int r;

	r = analysis_new(benchmark, &analysis);
	if (r < 0)
		return r;
	fill_summary(input, benchmark, analysis, &summary);
	if (brief) {
		brief_add_benchmark(brief, &summary);
		return 0;
	}
	if (stream)
		print_summary(stream, &summary);
	stability = analysis->stability;
	for (size_t i = 0; i < stability->n_concerns; i++) {
		const struct concern *concern = &stability->concerns[i];

		if (concern->warning && !(input->decided && concern->code == CONCERN_TOO_FEW))
			say("warning: %s%s%s", input->one_of_several ? input->name : "",
				input->one_of_several ? ": " : "", concern->text);
	}
	return 0;
}

int report_print(FILE *stream, struct brief *brief, const struct report_input *input)
{
	_cleanup_free_ struct benchmark **figures = NULL;
	struct benchmark benchmark;
	int r;

	if (input->by_program) {
		benchmark = *input->by_program;
		if (unit_is_time(benchmark.unit))
			benchmark.unit = input->unit;
		return report(stream, brief, input, &benchmark);
	}
	r = benchmark_view(input->name, input->series, &benchmark);
	if (r < 0)
		return r;
	/* Borrowed, like the rest of the view. */
	benchmark.metadata = *input->facts;
	benchmark.unit = input->unit;
	if (input->settling)
		benchmark.settling = *input->settling;
	figures = benchmark_split_chosen(&benchmark, input->metric, true);
	for (size_t i = 0; figures && figures[i]; i++) {
		struct report_input of_figure = *input;

		if (stream && !brief && i > 0)
			xprint_report(stream, "\n");
		of_figure.name = figures[i]->name;
		of_figure.one_of_several = true;
		/* Those of a run are no times of a part of it. */
		of_figure.floor_seconds = of_figure.shell_seconds = NAN;
		r = r < 0 ? r : report(stream, brief, &of_figure, figures[i]);
		benchmark_free(figures[i]);
	}
	if (!figures)
		r = report(stream, brief, input, &benchmark);
	benchmark_clear_view(&benchmark);
	return r;
}
