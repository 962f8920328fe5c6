/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hardware and software events that are counted in each run: those that the user asked for
 * (-e), and those that are evidence and that this machine can count (task-clock, migrations, APERF,
 * MPERF and the TSC).
 */
#ifndef QUIESCE_MEASURE_COUNTING_H
#define QUIESCE_MEASURE_COUNTING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/result/series.h"
#include "measure/launch.h"

struct counting {
	struct perf_event_attr attrs[LAUNCH_MAX_COUNTERS];
	size_t n;
	/* The index in attrs of each event that is counted as evidence; -1 when it is not
	 * counted. */
	int task_clock;
	int migrations;
	/* APERF, MPERF and TSC, the last ones before first_event, which the CPUs count in all runs;
	 * 0 where they cannot be counted. */
	size_t n_cpu_counters;
	/* The events that the user asked for: attrs[first_event + i] is event_names[i]. */
	size_t first_event;
	size_t n_events;
	char **event_names; /* NULL-terminated */
	char **notes;	    /* NULL-terminated: a line for each event that cannot be counted */
	size_t n_notes;
};

/*
 * Resolves the list of -e (NULL: no list). Says when a name is unknown and returns -EINVAL, else 0.
 * An event that this machine or this user cannot count is left out, with a note. `cpu` is one of
 * the CPUs that the program runs on: a machine with two kinds of cores has a PMU for each kind.
 * with_evidence adds the events that are evidence.
 */
int counting_open(const char *events, int cpu, bool with_evidence, struct counting **ret);
/* Says the notes: not before it is known that the runs are made on this CPU. */
void counting_say_notes(const struct counting *counting);
void counting_free(struct counting *counting);
DEFINE_CLEANUP(counting, counting_free);

/* The count for the whole run, scaled up if it was counted in a part of it only; NAN if never
 * counted. */
double counting_scale(const struct launch_counter *counter);
/* Whether the counters and records of all tasks, if the run has them, show that one was on other
 * CPUs than the run's. */
bool counting_find_left(
	const struct counting *counting, const struct launch_report *report, bool one_cpu);
/* Fills in those fields of the evidence that are counted by events. */
void counting_fill_evidence(const struct counting *counting, const struct launch_report *report,
	struct evidence *evidence);
/* The counts of the events that the user asked for, as n_events doubles. A count is scaled when the
 * kernel let several events share a hardware counter, and NAN when the event was never counted. */
void counting_read_events(
	const struct counting *counting, const struct launch_report *report, double *ret);

#endif
