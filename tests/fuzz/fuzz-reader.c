// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of results under libFuzzer: any bytes, gzip apart, which is zlib's. What is refused
 * has a reason of one line; what is accepted can be looked at from all sides.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "judge/report/analysis.h"
#include "judge/report/compare.h"
#include "judge/report/summary.h"
#include "judge/report/wording.h"
#include "judge/result/metric.h"
#include "judge/result/reader.h"
#include "judge/result/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a scan is made of, and then each metric in place of the values. */
static void look_at_metric(void *context, const char *metric)
{
	struct benchmark *benchmark = context;
	struct analysis *analysis = NULL;

	if (benchmark_choose_metric(benchmark, metric) == 0 &&
		analysis_new(benchmark, &analysis) == 0)
		analysis_free(analysis);
}

static void look_closer(struct benchmark *benchmark)
{
	double number;
	const char *parameter = scan_parameter(benchmark, 0);

	(void)scan_is_common(benchmark, benchmark);
	if (parameter)
		(void)scan_number(benchmark, parameter, &number);
	if (benchmark->series->with_evidence)
		benchmark_list_metrics(benchmark, look_at_metric, benchmark);
}

static void look_at(const struct benchmark *benchmark)
{
	struct summary_input input = { .width = 80, .warnings = true, .notes = true };
	struct comparison *comparison = NULL;
	struct analysis *analysis = NULL;

	summary_fill(benchmark, &input);
	if (analysis_new(benchmark, &analysis) == 0) {
		input.analysis = analysis;
		free(summary_render(&input));
	} else {
		free(summary_render_head(&input));
	}
	if (comparison_new(benchmark, benchmark, &comparison) == 0) {
		comparison_settle(&comparison, 1);
		free(comparison_render(comparison));
	}
	comparison_free(comparison);
	analysis_free(analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suite *suite = NULL;
	struct input *input = input_open_memory(data, size);
	char *why = NULL;

	if (suite_read_input(input, size % 2 == 0, &suite, &why) == 0) {
		if (why || suite->n == 0)
			abort();
		for (size_t i = 0; i < suite->n; i++)
			look_at(suite->benchmarks[i]);
		for (size_t i = 0; i < suite->n; i++)
			look_closer(suite->benchmarks[i]);
	} else if (why && (strchr(why, '\n') || !strchr(why, ':'))) {
		abort();
	}
	suite_free(suite);
	free(why);
	input_free(input);
	return 0;
}
