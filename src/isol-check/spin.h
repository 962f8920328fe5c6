/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that do nothing but read the clock, one on each of some CPUs, all at the same time.
 *
 * The clock is CLOCK_MONOTONIC_RAW: what the kernel itself trusts, without NTP's corrections, and
 * where the machine's counter is any good read without a system call (vDSO). Nothing else is in the
 * loop but a comparison and a flag.
 */
#ifndef QUIESCE_ISOL_CHECK_SPIN_H
#define QUIESCE_ISOL_CHECK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "isol-check/gaps.h"
#include "machine/cpumask.h"

/* What came of one CPU. */
struct spin_result {
	int cpu;
	struct gaps *gaps;
	/* What the scheduler says of the thread: how often others came first, and how long it then
	 * waited for the CPU; negative where unknown (no CONFIG_SCHED_INFO). */
	uint64_t preempted;
	int64_t waited_ns;
	bool moved; /* it ended on another CPU: this one went offline */
};

struct spin;

/* Starts the threads and measures their loops; they spin from now on, but wait for spin_go() before
 * they count. 0, or what binding to a CPU or pthread_create(3) failed with, with that CPU in
 * *ret_cpu. Signals are to be blocked before. */
int spin_new(const struct cpumask *cpus, int64_t ns, struct spin **ret, int *ret_cpu);
void spin_go(struct spin *spin);
/* Ends them early. */
void spin_stop(struct spin *spin);
/* Waits until all have ended. */
void spin_join(struct spin *spin);
/* In the order of the CPUs; `gaps` go over to the caller. Only after spin_join(). */
unsigned spin_count(const struct spin *spin);
void spin_take(struct spin *spin, unsigned index, struct spin_result *ret);
/* Stops and joins what still runs. */
void spin_free(struct spin *spin);
DEFINE_CLEANUP(spin, spin_free);

#endif
