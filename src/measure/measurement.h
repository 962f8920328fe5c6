/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has been measured for one command. */
#ifndef QUIESCE_MEASURE_MEASUREMENT_H
#define QUIESCE_MEASURE_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "judge/report/decision.h"
#include "judge/result/series.h"
#include "measure/hosted.h"
#include "measure/inspect.h"
#include "measure/progvalues.h"

enum measure_end {
	MEASURE_COMPLETE,
	MEASURE_STOPPED, /* ended by a signal */
	MEASURE_FAILED,	 /* the program failed, or could not be started */
	MEASURE_BROKEN,	 /* runpinned itself failed */
};

/* How long a run of the empty program takes when it is measured like the benchmark. Measured once
 * before and once after the runs. */
struct floor_time {
	double kernel_seconds; /* medians; NAN when not measured */
	double user_seconds;
	/* With the event on the main thread that gives kernel_seconds, if it is such an event: the
	 * median, and the shortest by our own stamps with and without it. */
	double event_user_seconds;
	double least_event_seconds;
	double least_seconds;
	/* What the empty program uses: CPU time as of wait4(2), and the most memory, which is that
	 * of the launcher before it executes the program. */
	double user_cpu_seconds;
	double system_cpu_seconds;
	double max_rss_bytes;
	int64_t reap_ns; /* from the end of the window to the stamp after waitid(2), 0: unknown */
};

struct measurement {
	struct series *series;
	struct progvalues *progvalues; /* the values that the program measured itself */
	struct hosted *hosted; /* the values of a hosted harness; NULL where there is none */
	/* Runs that handed over something that is not valid values. */
	size_t n_refused;
	struct floor_time floor;
	struct floor_time shell; /* of the shell of --shell with nothing to do */
	enum measure_end end;
	/* Why the measurement ended early, as in the metadata: "run 17 failed: exit status 3". */
	char *incomplete;
	/* Why there is no kernel window although it was requested, as a positive errno; otherwise
	 * 0. */
	int window_error;
	/* Why the core could not be looked at, in the same way. */
	int core_error;
	/* How long some run waited is not known, because it had several tasks. */
	bool unknown_waiting;
	enum stamper stamper;
	bool all_have_records; /* --evidence records: inspections are what has none */
	struct inspections inspections;
	/* With STAMPER_CORRECTED: what is subtracted from our own stamps. */
	struct inspection_gap gap;
	size_t n_warmups;
	size_t n_runs;
	/* --warmup auto, of a program without values of its own: how many of the first warm-ups
	 * come before the level, and of how many; all of them without one. */
	size_t n_before_level;
	size_t n_looked_for_level;
	/* Of the first figure with many values in a run: how many these are. */
	size_t n_figure_values;
	bool leaves_out;       /* --warmup auto: those before the level are not in the figure */
	uint64_t env_pad_seed; /* --env-pad random */
	bool env_pad_seeded;
	uint64_t order_seed;	/* only with several commands */
	uint64_t sitting;	/* a random number for all measurements of this start */
	bool out_of_time;	/* --max-time ended the runs before they were enough */
	bool reached_rel_error; /* --until-rel-error was satisfied */
	/* The step in which the values are counted, as a part of the median, where that is why no
	 * number of runs satisfies --until-rel-error; else 0. */
	double step;
	bool has_metric; /* the metric by which programs are judged is known to be known */
	/* --decide, of all programs but the first: all zero before the first look. */
	struct decision decision;
	/* Why it is not settled whatever the pairs say (judge/report/fixedtime.h); NULL where they
	 * say it. */
	char *decision_doubt;
	enum window_clock decision_clock; /* the clock of the values that the decision has used */
};

void measurement_free(struct measurement *measurement);
DEFINE_CLEANUP(measurement, measurement_free);

#endif
