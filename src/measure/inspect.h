/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inspections: runs that do not count, because perf events are attached to the program which take
 * time inside its window. They tell what cannot be known from outside: how long all tasks of the
 * program waited, how often they moved, and, for those who may neither use BPF nor events of the
 * CPUs, how the runs that count are to be stamped.
 */
#ifndef QUIESCE_MEASURE_INSPECT_H
#define QUIESCE_MEASURE_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"
#include "measure/judge.h"
#include "measure/launch.h"

struct inspection {
	bool has_records; /* with LAUNCH_ATTACH_RECORDS, and none were lost */
	bool has_lost;	  /* there are records, but not all */
	bool is_sound;	  /* there is a window of the process's last thread */
	/* The main thread ended last, so that an event on it is enough to see the end. */
	bool leader_is_last;
	int64_t window_ns;
	/* What our own stamps have beyond the window, without the time that the launcher waited for
	 * its CPU, which is known of each run. */
	int64_t gap_ns;
	int64_t price_ns; /* what an event on the main thread takes, estimated */
	bool left;	  /* a task was on other CPUs than the run's (judge_left()) */
	/* Tasks took CPU time that nobody has waited for, and so is in no sum (wait4(2)). */
	bool unwaited;
	/* Of all tasks, see tree.h; -1 when not known. The following ones are of all tasks, too. */
	int64_t waited_ns;
	uint32_t n_tasks;
	uint32_t n_switches;
	uint32_t n_migrations;
};

struct inspections {
	struct inspection *items;
	size_t n;
	size_t capacity;
};

/* `evidence` of the run is NULL where there is none. */
void inspections_add(struct inspections *inspections, const struct launch_report *report,
	enum window_verdict window, const struct window_floor *floor,
	const struct evidence *evidence);
void inspections_clear(struct inspections *inspections);
/* Whether the program was seen to leave its CPUs: it does so in the runs that count as well. */
bool inspections_have_left(const struct inspections *inspections);
/* Whether it was seen to start tasks that it does not wait for, so that its CPU time is not known.
 */
bool inspections_have_unwaited(const struct inspections *inspections);

/* Whether another one is needed: the last one has lost records, or has no sound window, perhaps
 * because the end of the run was delayed. */
bool inspections_want_more(const struct inspections *inspections);
/*
 * By whom the runs are to be stamped, from the last inspection. An event on the main thread is as
 * good as the kernel's stamps are where it takes no more than half a per cent of a run; bare_ns is
 * what a run without an inspection took by our own stamps, if there was one, otherwise 0. Else runs
 * have nothing attached, and our own stamps are corrected by the gap of inspections between them.
 */
enum stamper inspections_choose(const struct inspections *inspections, int64_t bare_ns);

/* The gap of our own stamps, for correcting them. */
struct inspection_gap {
	int64_t median_ns;
	int64_t spread_ns; /* the distance of its quartiles */
};

/* From the inspections without records, if the main thread ends last, else from all. False where
 * there is none. */
bool inspections_find_gap(const struct inspections *inspections, struct inspection_gap *ret);

/* Adds what the inspections with records saw, and what the records took: typical_seconds is the
 * median of the runs that count; NAN when unknown. If all of these have records, too, inspections
 * without tell what they took. */
void inspections_describe(const struct inspections *inspections, bool all_have_records,
	double typical_seconds, struct facts *facts);

#endif
