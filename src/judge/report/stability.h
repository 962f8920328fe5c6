/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can this result be trusted? The rules of `pyperf check` (2.10, _cli.py: format_checks), changes
 * of level and drift, with what else changed at the same time, the correlation of neighbouring
 * values, and how many runs were disturbed by what. When runs have several values, levels, drift
 * and correlation are those of the runs.
 */
#ifndef QUIESCE_JUDGE_REPORT_STABILITY_H
#define QUIESCE_JUDGE_REPORT_STABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/result/benchmark.h"
#include "judge/result/weight.h"
#include "judge/stats/level.h"
#include "judge/stats/stats.h"

enum concern_code {
	/* pyperf check */
	CONCERN_STDEV,	 /* standard deviation of 10 % of the mean or more */
	CONCERN_TOO_FEW, /* more runs are needed for 95 % certainty of less than 1 % variation */
	CONCERN_MINIMUM, /* 50 % or more off the mean */
	CONCERN_MAXIMUM, /* 50 % or more off the mean */
	/* The shortest measurement is shorter than 1 ms, or where its clock is known, than 1000
	 * steps of that. */
	CONCERN_SHORT,
	/* Less than 75 % of the runs would have been enough: a hint, not a warning. */
	CONCERN_TOO_MANY,
	/* further rules */
	CONCERN_LEVEL,		 /* the values jump */
	CONCERN_DRIFT,		 /* the values drift */
	CONCERN_AUTOCORRELATION, /* neighbouring values are correlated, beyond levels and drift */
	/* Stolen time, as the sum over all runs: a warning from 1 % on, else a hint. */
	CONCERN_STEAL,
	/* nohz_full with intel_pstate: a hint, if there is no change of level. */
	CONCERN_NOHZ_FULL,
	/* Perf events were attached to the tasks of the program, and took time at its switches, as
	 * runpinned always did before it wrote down who stamps the runs. */
	CONCERN_ATTACHED,
	/* The values of the runs begin elsewhere than on the level on which they end: a warning
	 * where that moves the median by 1 % or more. Or they end on none. */
	CONCERN_WARMUP,
	CONCERN_UNSETTLED,
	/* Most of what varies is waiting (judge/report/waiting.h): a hint. */
	CONCERN_WAITING,
};

struct concern {
	enum concern_code code;
	bool warning;	/* it is a reason not to trust the result */
	char *in_short; /* some words, or NULL where the default report does without */
	char *text;	/* for a person: one line, no full stop, starts in lower case */
};

struct stability {
	struct concern *concerns;
	size_t n_concerns;
	bool stable; /* no concern is a warning */

	/* How many runs are needed for 95 % certainty of less than 1 % variation, by pyperf's
	 * formula. It is a rough figure when it is far above the number of runs; NAN with fewer
	 * than 2 runs, or where their mean is 0. */
	double runs_needed;

	struct disturbances disturbances;
	bool mostly_disturbed; /* more than half of the runs: the median is one of these runs */
};

/*
 * `stats` must be those of the benchmark's values, and `levels` those of its units
 * (benchmark_units()). -EINVAL if they are not. Of several machines, both are without the steps
 * from sitting to sitting (fleet_level_units()).
 */
int stability_assess(const struct benchmark *benchmark, const struct stats *stats,
	const struct levels *levels, struct stability **ret);
void stability_free(struct stability *stability);
DEFINE_CLEANUP(stability, stability_free);

/* "STDEV", "LEVEL", ...: the names used in JSON. */
const char *concern_code_name(enum concern_code code);

/* "3 of 50 runs lost 1 % or more: preempted 2 (worst 8.3 %), irq 1 (2.1 %); a typical run lost
 * 0.3 %", or "3 of 50 runs were disturbed: ..." when a flag without a weight is among them;
 * malloc'd; "" when none was disturbed. */
char *stability_disturbed_text(const struct stability *stability);
/* The same for a column: "3: preempted 2, irq 1; typically 0.3 %", "0". */
char *stability_disturbed_cell(const struct stability *stability);

#endif
