/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics by which a run can be judged besides its values: the processor time of the program and
 * its children, its peak memory, its page faults, switches and interrupts, and the counted events.
 * Less is better for each of these. Such a metric belongs to the run as a whole, so it is one
 * number for each run, however many values the run has.
 *
 * The figures that a program gives (runpinned --figure) are metrics as well; each of them says
 * which way it is better. A result of google-benchmark has figures of each value instead:
 * "cpu_time", and the counters of the program. More is better of a rate ("bytes_per_second"). Of
 * other counters nobody knows; they are judged as if less were better.
 */
#ifndef QUIESCE_JUDGE_RESULT_METRIC_H
#define QUIESCE_JUDGE_RESULT_METRIC_H

#include <stdbool.h>

#include "judge/result/benchmark.h"

/* Calls name(context, metric) for each metric that is known for a run that counts. The series needs
 * evidence. */
void benchmark_list_metrics(const struct benchmark *benchmark,
	void (*name)(void *context, const char *metric), void *context);

/* How long a run took, where a metric can be named. */
#define METRIC_TIME "time"
/* The processor time of all tasks: where records of these do not tell it, the sum of user_cpu and
 * system_cpu. */
#define METRIC_PROCESSOR_TIME "task_clock"

/* The metric of that name of a run; NAN where it is not known. */
double series_metric_at(const struct series *series, const char *name, size_t run);
/* The figure that the program gave first; NULL where there is none. */
const char *series_first_figure(const struct series *series);
/* The metric of that name of each run that counts, in seconds, bytes or a number; NAN where it is
 * not known. `ret` has room for all runs; returns for how many it was filled. */
size_t series_metric(const struct series *series, const char *name, double *ret);

/*
 * Makes the metric of that name the values, or the only value of each run, and stores the name in
 * the benchmark's `metric`. Runs for which the metric is unknown do not count any more. -ENODATA,
 * with the benchmark unchanged, when it is unknown for all runs that count.
 */
int benchmark_choose_metric(struct benchmark *benchmark, const char *name);

/* As benchmark_view(), with the metric of that name for the values, unless it is NULL. -ENODATA
 * also where it is known for no run that counts. */
int benchmark_view_metric(
	const char *name, const struct series *series, const char *metric, struct benchmark *ret);

/*
 * The figures that a program gives of each run (series_declare_figure()), each as a benchmark of
 * its own, which shares the series; NULL-terminated, malloc'd as they are. NULL where there are
 * none. They are called as the figure, with the name of the benchmark in front where `with_name`
 * says so: "wrk: rps".
 */
struct benchmark **benchmark_split(const struct benchmark *benchmark, bool with_name);
/* The same, but where one is chosen by name, that metric alone, and none for METRIC_TIME. */
struct benchmark **benchmark_split_chosen(
	const struct benchmark *benchmark, const char *chosen, bool with_name);
/* Whether there are any. */
bool benchmark_has_figures(const struct benchmark *benchmark);

/*
 * The figures that stand beside the values (BENCHMARK_FIGURES) and of which the file says the unit,
 * each as a benchmark of its own, as benchmark_split() does, but called "Sum: B/op" always, because
 * the benchmark itself stays. NULL where there are none. Those that some run lacks are not among
 * them.
 */
struct benchmark **benchmark_split_values(const struct benchmark *benchmark);

/* Whether the program alone decides how much of it there is ("max_rss", "minor_faults", "B/op",
 * "instructions", also "instructions:u"), and not what the machine does meanwhile, as it does with
 * times, cycles, cache misses, switches and interrupts. */
bool metric_is_of_program(const char *name);

#endif
