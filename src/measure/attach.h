/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf events of the launcher: those that are attached to the tasks of single runs, which cost
 * time inside the window, and those of all CPUs, which stay open as long as the launcher and cost
 * nothing at a switch.
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_ATTACH_H
#define QUIESCE_MEASURE_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "measure/launch.h"

/* The records of a kind of events that are attached to the tasks of one run. */
struct side_band {
	size_t pages; /* of a ring */
	/* The larger rings were refused: do not ask for them again. */
	bool refused;
	/* The mappings of one run: one for each event. */
	void *maps[TREE_MAX_CPUS];
	size_t n;
};

struct attach {
	const struct launch_plan *plan;
	struct side_band window;
	struct side_band tree;
	/* The CPUs of `tree`; none when there are more than TREE_MAX_CPUS. */
	int cpus[TREE_MAX_CPUS];
	size_t n_cpus;
	int counters[LAUNCH_MAX_COUNTERS]; /* of the present run; -1 where there is none */
	/* Of the CPUs of `cpus`, and what all of them had counted before the present run. */
	int cpu_counters[TREE_MAX_CPUS][LAUNCH_MAX_CPU_COUNTERS];
	bool has_cpu_counters;
	struct launch_counter counted_before[LAUNCH_MAX_CPU_COUNTERS];
	/* An event for each CPU that was online when the launcher started. */
	int *cpu_fds;
	void **cpu_maps;
	struct records *cpu_records;
	size_t n_cpu_events;
};

/*
 * Tries whether the counters that -e asks for can be opened; *ret_index is the one that cannot.
 * Opens the counters of the CPUs, and with LAUNCH_CPU_EVENTS their events; a kernel that does not
 * allow them is no failure.
 */
int attach_open(const struct launch_plan *plan, struct attach *ret, int *ret_index);
void attach_close(struct attach *attach);
bool attach_has_cpu_events(const struct attach *attach);

/* Lets the events of the CPUs record, or stop: between two requests other launchers run, and nobody
 * reads the records. */
void attach_enable_cpu_events(const struct attach *attach, bool enable);

/* Attaches to a child that waits before execve(2). Returns 0, or the errno of
 * LAUNCH_ATTACH_WINDOW; without the others the run is as good, but less is known about it. */
int attach_begin(struct attach *attach, pid_t pid, uint32_t attachments);
/* Reads the records about the child, which has ended and has not been reaped, into the report. */
void attach_read(struct attach *attach, pid_t pid, struct launch_report *report);
/* Reads the counters. The counts of processes that were left behind belong to the run, so these
 * have ended. */
void attach_read_counters(struct attach *attach, struct launch_report *report);
/* Detaches everything; may be called at any time. */
void attach_end(struct attach *attach);

#endif
