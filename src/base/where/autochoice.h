/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the CPUs to measure on, and the housekeeping CPUs for everything else. Except for
 * autochoice_now(), this is pure logic on facts that the caller has read: the same facts give the
 * same choice.
 */
#ifndef QUIESCE_BASE_WHERE_AUTOCHOICE_H
#define QUIESCE_BASE_WHERE_AUTOCHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/cpumask.h"
#include "base/machine/topology.h"

struct autochoice_input {
	/* CPUs that this process may use (isolation_read_allowed()). */
	const struct cpumask *allowed;
	/* Isolated CPUs (struct isolation); NULL for none. */
	const struct cpumask *isolated;
	/* The share of time, 0 to 1, in which each CPU was not idle; negative or NaN is unknown.
	 * NULL: unknown for all. */
	const double *busy;
	/* Interrupts of each CPU, since boot or between two readings. NULL: unknown. */
	const uint64_t *interrupts;
	/* Those of them that cannot be kept away (struct cpuload). NULL: unknown. */
	const uint64_t *fixed;
	/* Entries in busy, interrupts and fixed; other CPUs are unknown. */
	size_t n_cpus;
	/* CPU 0 and its siblings are candidates only where there are fewer other cores than
	 * requested, however busy the other cores are: for callers that will move the load
	 * elsewhere. */
	bool spare_zero;
};

/*
 * Chooses n CPUs among those that are allowed and online.
 *
 * With n == 0: all isolated CPUs among them; if there are none, as with n == 1. With n > 0: among
 * the isolated ones if there are at least n, else among all. Isolated CPUs that are more than half
 * busy have been isolated for the programs that run there: they are left out if there are n others.
 *
 * The better of two CPUs is decided by the first of these criteria in which they differ:
 * 1. neither CPU 0, where the kernel does most of its own work, nor more than half busy;
 * 2. on a faster kind of core;
 * 3. the busiest sibling is less busy;
 * 4. the CPU itself is less busy;
 * 5. not CPU 0, nor a sibling of CPU 0, which shares a core with the kernel's work there;
 * 6. fewer interrupts that cannot be kept away;
 * 7. fewer interrupts;
 * 8. higher in the firmware's ranking;
 * 9. a higher number: interrupts, and tools that count from 0, use the low numbers.
 * Busy is compared in steps of 10 per cent. The lowest step is called idle, because the clock tick
 * limits the precision.
 *
 * Several CPUs are chosen on separate cores, so that their siblings can stay idle, and on cores of
 * one kind, the fastest that has enough of them; where none has, of several kinds, the fastest ones
 * first; all in one last-level cache of one NUMA node if one has enough cores; else in one node, in
 * one package, anywhere. Among several such groups the one whose worst chosen CPU is the best is
 * taken. Chosen CPUs share cores only where there are fewer cores than n.
 *
 * *ret_reason is one malloc'd phrase: "CPU 5: not CPU 0, a performance core, idle, its sibling CPU
 * 13 is idle, fewest interrupts (12)".
 *
 * -ENODEV when no CPU is allowed and online, -ERANGE when fewer than n are, -ENOMEM.
 */
int autochoice_choose(const struct topology *topology, const struct autochoice_input *input,
	unsigned n, struct cpumask *ret, char **ret_reason);

/*
 * autochoice_choose() with the present isolation and load of the CPUs; the load is observed for a
 * fifth of a second. *ret_why is set for -ENODEV and -ERANGE, malloc'd: "no CPU is both online and
 * allowed here", "only 3 CPUs are online and allowed here, not 4". Another negative errno where the
 * machine could not be read.
 */
int autochoice_now(const struct topology *topology, const struct cpumask *allowed, bool spare_zero,
	unsigned n, struct cpumask *ret, char **ret_reason, char **ret_why);

/*
 * The housekeeping CPUs, for everything but the benchmark: online and allowed, without those of
 * `benchmark` and, if any other CPU remains, without their siblings. -ENODATA when the benchmark
 * has all CPUs.
 */
int autochoice_housekeeping(const struct topology *topology, const struct cpumask *allowed,
	const struct cpumask *benchmark, struct cpumask *ret);

#endif
