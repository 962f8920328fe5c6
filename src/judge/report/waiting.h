/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is most of what varies in a result waiting? On a busy machine the time of a program varies by 20
 * %, because it waits for its CPU, while the CPU time that it takes varies by 3 %: then a
 * comparison of the CPU time sees more. That is another question: what a program waits for itself,
 * a disk or a lock, is not in its CPU time either.
 */
#ifndef QUIESCE_JUDGE_REPORT_WAITING_H
#define QUIESCE_JUDGE_REPORT_WAITING_H

#include "judge/result/benchmark.h"

struct waiting {
	/* Standard deviations, as a part of the mean. */
	double of_values;
	double of_processor; /* of METRIC_PROCESSOR_TIME (judge/result/metric.h) */
};

/*
 * -ENODATA where the values are neither times of whole runs nor a figure in time of runs that were
 * told how many loops they make, or vary by less than 5 %, where the processor time is not known of
 * all runs or varies by more than a third as much, and where the runs' waiting for a CPU is not
 * known or varies by less than half as much.
 */
int waiting_find(const struct benchmark *benchmark, struct waiting *ret);

#endif
