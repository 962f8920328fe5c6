/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One benchmark as bench-report and runpinned look at it: its values, the runs that they come from,
 * and what is known of both. It is made of a series that was just measured, or of a file
 * (result/reader.h).
 *
 * A run is one process. Values of one run have much in common (the layout of its memory, above
 * all), so that ten values of one run tell less than ten runs with a value each. Whatever draws a
 * conclusion therefore takes each run for one number, the median of its values: see
 * benchmark_units().
 */
#ifndef QUIESCE_RESULT_BENCHMARK_H
#define QUIESCE_RESULT_BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/facts.h"
#include "basic/units.h"
#include "result/series.h"

struct benchmark_run {
	size_t end;	   /* index in `values` behind the last one of this run */
	size_t warmup_end; /* the same in `warmups` */
	uint64_t loops;
	uint64_t inner_loops;
	bool unknown; /* it would count, but the metric that was chosen is not known of it */
	/* The number of the run among those that count, from 0, where runs before it are left out
	 * because the program handed over no values. */
	bool has_turn;
	uint32_t turn;
};

struct benchmark_warmup {
	uint64_t loops;
	double value; /* per iteration of a loop */
};

/* Another figure that was measured together with each value. */
struct benchmark_figure {
	char *name;
	enum unit unit;
	double *values; /* as many as the benchmark has; NAN where it is not known */
};

struct benchmark {
	char *name;
	enum unit unit;
	/* What the values are of, when it is not what was measured: result/metric.h; borrowed. */
	const char *metric;
	struct facts metadata; /* what holds for all of its runs */

	/* A sample a run, in the order of the file; a run without values (a calibration, a warm-up)
	 * has `warmup` set. start_ns is the run's date, in ns since that of the first run, and
	 * negative where the file does not say it. The values are below, not in the samples. */
	struct series *series;

	double *values; /* without warm-ups, in the order of the runs, per iteration of a loop */
	size_t n_values;
	struct benchmark_warmup *warmups;
	size_t n_warmups;
	/* A record a run; NULL when each run has one value or one warm-up, and no loops. */
	struct benchmark_run *runs;

	struct benchmark_figure *figures; /* of google-benchmark: cpu_time and counters */
	size_t n_figures;

	double total_seconds; /* that the runs took; 0 when unknown */
	/* Seconds since 1970 as if the dates were UTC (files have local time), at the first run's
	 * start and the last run's end. */
	bool has_dates;
	int64_t first_date;
	int64_t last_date;
};

/* Metadata of programs beside which runpinned ran a control, and of the control: its command, and a
 * hash of its file. A control itself has the role of one. */
#define BENCHMARK_CONTROL "quiesce_control"
#define BENCHMARK_CONTROL_HASH "quiesce_control_hash"
#define BENCHMARK_CONTROL_OURS "runpinned-control" /* the one that ships; its length follows */
#define BENCHMARK_ROLE "quiesce_role"
#define BENCHMARK_ROLE_CONTROL "control"

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
/* The values of a run: their index and number. */
void benchmark_run_values(
	const struct benchmark *benchmark, size_t run, size_t *ret_first, size_t *ret_n);
/* What a value of this run is multiplied by for the time of all its loops: loops * inner_loops. */
double benchmark_raw_factor(const struct benchmark *benchmark, size_t run);
/* The smallest and largest time of all loops. -ENODATA without values. */
int benchmark_raw_range(const struct benchmark *benchmark, double *ret_min, double *ret_max);
/* Runs that have values. */
size_t benchmark_counted_runs(const struct benchmark *benchmark);
/* Is the unit of statistics a run, or, where there is only one, a value? */
bool benchmark_units_are_runs(const struct benchmark *benchmark);
/*
 * The independent numbers that conclusions are drawn from, in the order of the runs, malloc'd: the
 * median of each run's values. Where only one run has values, these values themselves: then nothing
 * is known of how runs differ. -ENODATA without values.
 */
int benchmark_units(const struct benchmark *benchmark, double **ret, size_t *ret_n);
/* The median of the units. -ENODATA without values. */
int benchmark_median(const struct benchmark *benchmark, double *ret);
/* Standard deviation of the runs' means as a part of their mean, which is what pyperf's rule for
 * the number of runs takes; NAN with fewer than 2 runs. */
int benchmark_run_deviation(const struct benchmark *benchmark, double *ret);

/* Whether it is a control: run in turn with programs, to be a measure of the machine, and no rival
 * of theirs. */
bool benchmark_is_control(const struct benchmark *benchmark);
/* Whether what slows a program down moves its values: they are no metric, or one of time. */
bool benchmark_is_of_time(const struct benchmark *benchmark);
/* Whether the program measured its values itself, by libquiesce. */
bool benchmark_is_by_program(const struct benchmark *benchmark);

/* A piece of metadata as a text, malloc'd; NULL in *ret when there is none. */
int benchmark_metadata_text(const struct benchmark *benchmark, const char *name, char **ret);

#endif
