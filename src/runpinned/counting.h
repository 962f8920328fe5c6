/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is counted in each run: the events that were asked for, and those that are evidence where
 * this machine lets us have them (task-clock, migrations, APERF and MPERF).
 */
#ifndef QUIESCE_RUNPINNED_COUNTING_H
#define QUIESCE_RUNPINNED_COUNTING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "result/series.h"
#include "runpinned/launch.h"

struct counting {
	struct perf_event_attr attrs[LAUNCH_MAX_COUNTERS];
	size_t n;
	/* Index into attrs of what is counted as evidence, -1 where it is not. */
	int task_clock;
	int migrations;
	int aperf;
	int mperf;
	int tsc;
	/* The events that were asked for: attrs[first_event + i] is event_names[i]. */
	size_t first_event;
	size_t n_events;
	char **event_names; /* NULL-terminated */
};

/*
 * Resolves the list of -e (NULL for none). An unknown name is said and is -EINVAL; what this
 * machine or this user cannot count is said once and left out. `cpu` is one that the program runs
 * on: machines with two kinds of cores count with two PMUs. with_evidence adds our own.
 */
int counting_open(const char *events, int cpu, bool with_evidence, struct counting **ret);
void counting_free(struct counting *counting);
DEFINE_CLEANUP(counting, counting_free);

/* Fills the evidence that stands in the counters. */
void counting_fill_evidence(const struct counting *counting, const struct launch_report *report,
	struct evidence *evidence);
/* The counts of the events that were asked for, n_events doubles: scaled where the kernel had to
 * share the hardware's counters, NAN where it never got to count. */
void counting_read_events(
	const struct counting *counting, const struct launch_report *report, double *ret);

#endif
