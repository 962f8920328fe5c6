// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of results under libFuzzer: any bytes, gzip apart, which is zlib's. What is refused
 * has a reason of one line; what is accepted can be looked at from all sides.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/compare.h"
#include "report/summary.h"
#include "result/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	if (comparison_new(benchmark, benchmark, &comparison) == 0)
		free(comparison_render(comparison));
	comparison_free(comparison);
	analysis_free(analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suite *suite = NULL;
	struct input *input = NULL;
	char *why = NULL;

	if (input_open_memory(data, size, &input) < 0)
		return 0;
	if (suite_read_input(input, size % 2 == 0, &suite, &why) == 0) {
		if (why || suite->n == 0)
			abort();
		for (size_t i = 0; i < suite->n; i++)
			look_at(suite->benchmarks[i]);
	} else if (why && (strchr(why, '\n') || !strchr(why, ':'))) {
		abort();
	}
	suite_free(suite);
	free(why);
	input_free(input);
	return 0;
}
