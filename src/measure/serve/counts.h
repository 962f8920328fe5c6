/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of -e, counted for the cgroup of a service while it is under load: an event of a CPU that
 * counts only while tasks of a cgroup are there (perf_event_open(2), PERF_FLAG_PID_CGROUP). Each
 * switch of that CPU from or to the cgroup costs about a microsecond then, so that this is for
 * slices whose time does not count.
 */
#ifndef QUIESCE_MEASURE_SERVE_COUNTS_H
#define QUIESCE_MEASURE_SERVE_COUNTS_H

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "measure/counting.h"

struct counts;

/*
 * Begins to count the events of `counting` on the cgroup of this folder. `cpus` are those that the
 * service is to have; where it goes to others, it is counted there as well. A negative errno of
 * perf_event_open(2): -EACCES or -EPERM where this user may not count what CPUs do.
 */
int counts_begin(const struct counting *counting, const char *folder, const struct cpumask *cpus,
	struct counts **ret);
/* What has been counted until now, as n_events doubles: NAN where the kernel has not counted all
 * the time on a CPU on which it should have, and had nothing to scale by. Stops counting. */
void counts_end(struct counts *counts, double *ret);
void counts_free(struct counts *counts);
DEFINE_CLEANUP(counts, counts_free);

#endif
