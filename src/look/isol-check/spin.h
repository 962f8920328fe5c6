/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that only read the clock, one on each of some CPUs, all at the same time.
 *
 * The clock is CLOCK_MONOTONIC_RAW: the clock source that the kernel trusts, without corrections of
 * NTP. Where the clock source is the CPU's counter, it is read without a system call (vDSO). The
 * loop contains only a comparison and a flag besides. Every few milliseconds the thread leaves it
 * for a look at the core; that time does not count as a gap.
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_SPIN_H
#define QUIESCE_LOOK_ISOL_CHECK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "library/core.h"
#include "look/isol-check/gaps.h"

/* The results of one CPU. */
struct spin_result {
	int cpu;
	struct gaps *gaps;
	uint64_t preempted; /* how often the scheduler ran another task instead of the thread */
	/* How long the thread was ready to run and did not; negative if unknown (no
	 * CONFIG_SCHED_INFO). */
	int64_t waited_ns;
	bool moved; /* the thread ended on another CPU, because this one went offline */
	/* What the core was like (library/core.h): looks in the order of time; NULL and 0 where the
	 * core cannot be looked at. */
	struct core_reading *looks;
	size_t n_looks;
};

struct spin;

/* Starts the threads, which measure the step of their loop, and then spin and wait for spin_go().
 * `ns` is the time to measure. On failure, the error of binding a thread or of pthread_create(3),
 * with the CPU in *ret_cpu. The caller blocks signals before. */
int spin_new(const struct cpumask *cpus, int64_t ns, struct spin **ret, int *ret_cpu);
void spin_go(struct spin *spin);
/* Ends the threads early. */
void spin_stop(struct spin *spin);
/* Waits until all threads have ended. */
void spin_join(struct spin *spin);
/* The results, in the order of the CPUs, only after spin_join(). The caller frees ret->gaps and
 * ret->looks. */
unsigned spin_count(const struct spin *spin);
void spin_take(struct spin *spin, unsigned index, struct spin_result *ret);
/* Also stops and joins threads that still run. */
void spin_free(struct spin *spin);
DEFINE_CLEANUP(spin, spin_free);

#endif
