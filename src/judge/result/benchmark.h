/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One benchmark as bench-report and runpinned look at it: its values, the runs that they come from,
 * and what is known of both. It is made from a series that was just measured, or from a file
 * (judge/result/reader.h).
 *
 * A run is one process. Values of one run have much in common (the layout of its memory, above
 * all), so that ten values of one run tell less than ten runs with a value each. Therefore all
 * conclusions use one number for each run, the median of its values: see benchmark_units().
 */
#ifndef QUIESCE_JUDGE_RESULT_BENCHMARK_H
#define QUIESCE_JUDGE_RESULT_BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/units.h"
#include "judge/result/kept.h"
#include "judge/result/series.h"

struct benchmark_run {
	size_t end;	   /* index in `values` behind the last one of this run */
	size_t warmup_end; /* the same in `warmups` */
	uint64_t loops;
	uint64_t inner_loops;
	/* The run's number among the counted runs, from 0; set only if earlier runs are missing
	 * because the program handed over no values in them. */
	bool has_turn;
	uint32_t turn;
	/* How many of its values, as it gave them, come before the level on which they end; all
	 * where they end on none; -1: that was not looked for, or there are too few
	 * (judge/result/settling.h). */
	int32_t before_level;
};

/* Where the values of the runs settle, together (judge/result/settling.h). All zero: that was not
 * looked for, or no run has values enough. */
struct settling {
	size_t n_runs;	 /* that were looked at: */
	size_t n_flat;	 /* on one level from the first value on, */
	size_t n_falls;	 /* down to it, from higher ones, */
	size_t n_rises;	 /* up to it, */
	size_t n_none;	 /* without one */
	size_t n_values; /* of a run: the median */
	/* How many values of a run come before its level, where there is one: the median, the least
	 * and the most. */
	size_t before;
	size_t before_least;
	size_t before_most;
	/* By what part the median changes where they are left out. */
	double change;
	size_t n_left_out; /* of all runs together */
};

struct benchmark_warmup {
	uint64_t loops;
	double value; /* per iteration of a loop */
};

/* Where a file has the figures of a run, beside "values", by name: {"cpu_time": [0.1, null]}.
 * pyperf does not look there. */
#define BENCHMARK_FIGURES "quiesce_figures"

/* Another figure that was measured together with each value. */
struct benchmark_figure {
	char *name;
	const struct unit *unit;
	struct event_kind kind; /* what the file says of it; `own` is NULL where it says nothing */
	double *values;		/* as many as the benchmark has values; NAN where unknown */
	size_t n;		/* while it is read: of how many values it has been told */
};

struct benchmark {
	char *name;
	const struct unit *unit;
	/* The metric that the values are (judge/result/metric.h), borrowed; NULL when they are the
	 * measured values. */
	const char *metric;
	enum better better;    /* of the metric; BETTER_UNKNOWN of the measured values */
	struct unit *own_unit; /* of values that another tool gives a unit of its own; else NULL */
	bool is_asked;	       /* its values are times, and were asked for by that name */
	bool is_figure;	       /* it is a figure of a program, and called so (benchmark_split()) */
	bool is_fixed_work;    /* a figure of runs that made the same number of loops, above 1 */
	bool is_exact;	       /* of the metric: a single difference tells (struct event_kind) */
	double step;	       /* in which its source counts; 0 where that is not known */
	struct facts metadata; /* metadata that hold for all of its runs */

	/* One sample for each run, in the order of the file; a run without values (a calibration, a
	 * warm-up) has `warmup` set. start_ns is the run's date, in ns since the date of the first
	 * run, and negative where the file has no date. The values are below, not in the
	 * samples. */
	struct series *series;

	double *values; /* without warm-ups, in the order of the runs, per iteration of a loop */
	size_t n_values;
	struct benchmark_warmup *warmups;
	size_t n_warmups;
	/* One record for each run; NULL when each run has one value or one warm-up, and no
	 * loops. */
	struct benchmark_run *runs;

	struct kept *kept; /* NULL unless the file is to be written again (judge/result/kept.h) */

	struct benchmark_figure *figures; /* of other tools: cpu_time, counters, B/op */
	size_t n_figures;

	struct settling settling;

	double total_seconds; /* the duration of all runs; 0 when unknown */
	/* Seconds since 1970 at the first run's start and the last run's end. Dates without a zone,
	 * which are local times, are taken for UTC. */
	bool has_dates;
	int64_t first_date;
	int64_t last_date;
};

/* Metadata of a control and of the programs that runpinned measured with it: the control's command,
 * and a hash of its file. The role marks the control itself. */
#define BENCHMARK_CONTROL "quiesce_control"
#define BENCHMARK_CONTROL_HASH "quiesce_control_hash"
#define BENCHMARK_CONTROL_OURS "runpinned-control" /* our own; written with its length */
#define BENCHMARK_ROLE "quiesce_role"
#define BENCHMARK_ROLE_CONTROL "control"

/* Says what the values are: a figure of that kind, whose `own` it takes, called as its unit. */
void benchmark_set_kind(struct benchmark *benchmark, const struct event_kind *kind);

void benchmark_free(struct benchmark *benchmark);
DEFINE_CLEANUP(benchmark, benchmark_free);

/*
 * The series as a benchmark, for a look: name, metadata and series are borrowed. Release it by
 * benchmark_clear_view() alone. -ENODATA when no run counts.
 */
int benchmark_view(const char *name, const struct series *series, struct benchmark *ret);
void benchmark_clear_view(struct benchmark *benchmark);

#define BENCHMARK_DATE_SIZE 32
/* A first_date or last_date as a text: "2026-11-20 10:14:10". Returns buf. */
const char *benchmark_format_date(int64_t seconds, char buf[static BENCHMARK_DATE_SIZE]);
/* The values of a run: the index of the first, and their number. */
void benchmark_run_values(
	const struct benchmark *benchmark, size_t run, size_t *ret_first, size_t *ret_n);
/* The same of its warm-ups. */
void benchmark_run_warmups(
	const struct benchmark *benchmark, size_t run, size_t *ret_first, size_t *ret_n);
/* loops * inner_loops: a value of this run times this number is the time of all loops. */
double benchmark_raw_factor(const struct benchmark *benchmark, size_t run);
/* The smallest and largest time of all loops. -ENODATA without values. */
int benchmark_raw_range(const struct benchmark *benchmark, double *ret_min, double *ret_max);
/* Runs that have values. */
size_t benchmark_counted_runs(const struct benchmark *benchmark);
/* Whether the unit of statistics is a run; with only one run it is a value. */
bool benchmark_units_are_runs(const struct benchmark *benchmark);
/*
 * The independent numbers that conclusions are drawn from, in the order of the runs, malloc'd: the
 * median of each run's values. Where only one run has values, these values themselves: then nothing
 * is known of how runs differ. -ENODATA without values.
 */
int benchmark_units(const struct benchmark *benchmark, double **ret, size_t *ret_n);
/* The median of the units. -ENODATA without values. */
int benchmark_median(const struct benchmark *benchmark, double *ret);
/* Standard deviation of the runs' means divided by the mean of these means, for pyperf's rule about
 * the number of runs; NAN with fewer than 2 runs. */
int benchmark_run_deviation(const struct benchmark *benchmark, double *ret);

/* Whether it is a control: it was run in turn with programs to measure the machine, not to be
 * compared with them. */
bool benchmark_is_control(const struct benchmark *benchmark);
/* Whether the values grow when the program is slowed down: they are not a metric, or a metric of
 * time. */
bool benchmark_is_of_time(const struct benchmark *benchmark);
/* Whether the values are times and no metric, so that a benchmark is faster or slower by them. */
static inline bool benchmark_is_of_speed(const struct benchmark *benchmark)
{
	return unit_is_time(benchmark->unit) && !benchmark->metric;
}
/* Whether both are values, or the same metric. */
bool benchmark_is_same_metric(const struct benchmark *a, const struct benchmark *b);
/* Whether more is better of what the values are. */
static inline bool benchmark_is_gain(const struct benchmark *benchmark)
{
	return benchmark->better == BETTER_HIGHER;
}
/* Whether the program measured its values itself, by libquiesce. */
bool benchmark_is_by_program(const struct benchmark *benchmark);

/* Which tool measured it: METADATA_RUNPINNED and so on (judge/result/metadata.h); NULL where that
 * is not known.
 */
const char *benchmark_tool(const struct benchmark *benchmark);

/* A piece of metadata as a text, malloc'd; NULL when there is none. */
char *benchmark_metadata_text(const struct benchmark *benchmark, const char *name);

#endif
