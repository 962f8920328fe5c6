/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that is said of one benchmark by itself, computed at once. */
#ifndef QUIESCE_REPORT_ANALYSIS_H
#define QUIESCE_REPORT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "report/stability.h"
#include "result/benchmark.h"
#include "stats/level.h"
#include "stats/stats.h"

struct analysis {
	double *sorted; /* all values that count */
	size_t n;
	/* Of all values; but the interval of the median is that of the units (benchmark_units()),
	 * for values of one run are not independent. */
	struct stats stats;
	size_t n_units;
	struct levels *levels; /* of the units */
	struct stability *stability;
};

/* -ENODATA without values, -EDOM when one is not finite. Holds 16 bytes a value for a moment and 8
 * for good, and 24 more a run of several values. */
int analysis_new(const struct benchmark *benchmark, struct analysis **ret);
void analysis_free(struct analysis *analysis);
DEFINE_CLEANUP(analysis, analysis_free);

#endif
