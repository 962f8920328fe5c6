/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all tasks of a run did: the program's threads, its processes, and theirs. From the records
 * of a perf event that they inherit, of which there is one for each of the benchmark's CPUs
 * (perf_event_open(2): an inherited event can only be mapped if it belongs to one CPU).
 *
 * How long the program waited. A task waits when it was taken off its CPU although it could have
 * gone on (PERF_RECORD_MISC_SWITCH_OUT_PREEMPT), or was forked, and does not run yet. Tasks of one
 * program take the CPU from each other, which is no disturbance. So at any moment the program has
 * as many CPUs to claim as it has tasks that run or wait, and at most as many as it was given. The
 * part of these that its tasks do not have at that moment is lost, and the sum over the window is
 * the time that it waited. With one CPU that is the time in which a task waited and none ran.
 *
 * A task that has slept waits from its wake-up on, and there is no record of a wake-up. For the
 * main thread the kernel's own sum of its waiting tells (/proc/PID/schedstat). The part of that sum
 * that the records do not explain is waiting after wake-ups, and is added as far as it fits into
 * the time in which no task of the program ran or waited before the main thread went on. For other
 * tasks the wait after a wake-up is not seen.
 *
 * The kernel's sum begins before exec and ends when the process is gone: after the window the
 * address space is freed, and on a busy CPU this may wait for longer than the program has run. So
 * even for a program with a single task, only as much of the sum is used as the records leave room
 * for. Where records were lost, only the sum is known.
 *
 * A process that ends counts as running until another task of the program gets its CPU, but for no
 * more than 5 ms, because the exit record is written before the address space is freed. Both
 * omissions make the figure too small. It can be too large only where many large processes end.
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_TREE_H
#define QUIESCE_MEASURE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/launch.h"
#include "measure/records.h"

/* The event. It is enabled by exec. */
void tree_event_attr(int clockid, struct perf_event_attr *ret);
/*
 * Reads the records of n CPUs about the process `pid` and its descendants; `window` is what its own
 * records say. When records were lost, or there were too many tasks at once, the figures are those
 * of the time until then, and n_lost is not 0.
 */
void tree_parse(const struct records *cpus, size_t n, int32_t pid, const struct window *window,
	struct tree *ret);

/* How long the program waited, from the records of a tree that was tried, and from the kernel's sum
 * for the main thread. */
int64_t tree_waited(const struct launch_report *report);

#endif
