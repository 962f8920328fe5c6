/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May this result be trusted? The rules of `pyperf check` (2.10, _cli.py: format_checks), changes
 * of level and drift with what changed beside them, autocorrelation, and how many runs were
 * disturbed by what. Where a run has several values, levels, drift and autocorrelation are those of
 * runs.
 */
#ifndef QUIESCE_REPORT_STABILITY_H
#define QUIESCE_REPORT_STABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "result/benchmark.h"
#include "stats/level.h"
#include "stats/stats.h"

enum finding_code {
	/* pyperf check */
	FINDING_STDEV,	  /* standard deviation of 10 % of the mean or more */
	FINDING_TOO_FEW,  /* more runs are needed for 95 % certainty of less than 1 % variation */
	FINDING_MINIMUM,  /* 50 % or more off the mean */
	FINDING_MAXIMUM,  /* 50 % or more off the mean */
	FINDING_SHORT,	  /* the shortest value is under 1 ms */
	FINDING_TOO_MANY, /* less than 75 % of the runs would have done: a hint, no warning */
	/* ours */
	FINDING_LEVEL,		 /* the values jump */
	FINDING_DRIFT,		 /* the values drift */
	FINDING_AUTOCORRELATION, /* neighbours are alike, levels and drift apart */
	FINDING_NOHZ_FULL,	 /* nohz_full with intel_pstate: a hint without a change of level */
};

struct finding {
	enum finding_code code;
	bool warning; /* speaks against the result */
	char *text;   /* for a person: one line, no full stop, starts in lower case */
};

struct stability {
	struct finding *findings;
	size_t n_findings;
	bool stable; /* no finding is a warning */

	/* How many runs it takes for 95 % certainty of less than 1 % variation, by pyperf's
	 * formula: a rough figure when it is far above the number of runs; 0 with fewer than 2
	 * values. */
	double runs_needed;

	/* Of the runs that count: */
	size_t n_runs;
	size_t n_disturbed;		  /* with any flag */
	bool mostly_disturbed;		  /* more than half: the median is one of them */
	size_t n_flagged[SAMPLE_N_FLAGS]; /* by number of the flag's bit */
};

/*
 * stats are those of the benchmark's values and levels those of its units (benchmark_units()).
 * -EINVAL where they are not.
 */
int stability_assess(const struct benchmark *benchmark, const struct stats *stats,
	const struct levels *levels, struct stability **ret);
void stability_free(struct stability *stability);
DEFINE_CLEANUP(stability, stability_free);

/* "STDEV", "LEVEL", ...: a word for machines. */
const char *finding_code_name(enum finding_code code);

/* "3 of 25 runs were disturbed: irq 2, preempted 1" malloc'd, "" when none was; NULL when memory is
 * short. */
char *stability_disturbed_text(const struct stability *stability);

#endif
