/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else can be judged of a run than its values: the processor time of the program and its
 * children, the most memory it had, its page faults, switches and interrupts, and the events that
 * were counted. Less is better for each of them. Such a metric is of the run as a whole, so it is
 * one number a run, however many values the run has.
 *
 * A result of google-benchmark has figures of each value instead: "cpu_time", and the counters of
 * the program. More of a rate is better; of other counters nobody knows, and they are judged as if
 * less were better.
 */
#ifndef QUIESCE_RESULT_METRIC_H
#define QUIESCE_RESULT_METRIC_H

#include <stdbool.h>

#include "result/benchmark.h"

/* The names of the metrics that are known of a run that counts: name(context, metric) for each. The
 * series needs evidence. */
void benchmark_list_metrics(const struct benchmark *benchmark,
	void (*name)(void *context, const char *metric), void *context);

/*
 * Makes the metric of that name the values, or the only value of each run, and `metric` of the
 * benchmark its name. Runs of which it is not known do not count any more. -ENODATA, and all is as
 * before, when it is known of no run that counts.
 */
int benchmark_choose_metric(struct benchmark *benchmark, const char *name);

/* Whether the program alone decides how much of it there is ("max_rss", "minor_faults",
 * "instructions", also "instructions:u"), and not what the machine does meanwhile, as it does with
 * times, cycles, cache misses, switches and interrupts. */
bool metric_is_of_program(const char *name);

/* Whether it is a rate, "bytes_per_second", of which more is better. NULL stands for the values. */
bool metric_is_rate(const char *name);

#endif
