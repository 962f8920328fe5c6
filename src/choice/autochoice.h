/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs to measure on, and which to leave for everything else. But for autochoice_now(), pure
 * logic over facts that the caller has read: the same facts give the same choice.
 */
#ifndef QUIESCE_CHOICE_AUTOCHOICE_H
#define QUIESCE_CHOICE_AUTOCHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/cpumask.h"
#include "machine/topology.h"

struct autochoice_input {
	/* CPUs that this process may use (isolation_read_allowed()). */
	const struct cpumask *allowed;
	/* CPUs that are kept apart (struct isolation); NULL for none. */
	const struct cpumask *isolated;
	/* The share of its time, 0 to 1, that each CPU was not idle; negative or NaN is unknown.
	 * NULL: unknown for all. */
	const double *busy;
	/* Interrupts that each CPU took, since boot or between two readings. NULL: unknown. */
	const uint64_t *interrupts;
	/* Entries in busy and interrupts; CPUs beyond are unknown. */
	size_t n_cpus;
	/* CPU 0 and the threads of its core are candidates only where there are fewer other cores
	 * than are wanted, however busy those are: for who will send the load elsewhere. */
	bool spare_zero;
};

/*
 * Chooses n CPUs among those that are allowed and online.
 *
 * With n == 0: all isolated CPUs among them; where there is none, as with n == 1.
 * With n > 0: among the isolated ones if there are as many, else among all.
 *
 * Of two CPUs the better one is, by the first of these in which they differ,
 *  1. neither CPU 0, where the kernel does most of its own work, nor more than half busy;
 *  2. on a performance core;
 *  3. the one whose busiest sibling is less busy;
 *  4. itself less busy;
 *  5. not CPU 0, nor on its core, which they would share whenever the kernel has work;
 *  6. the one with fewer interrupts;
 *  7. higher in the firmware's ranking;
 *  8. higher in number: interrupts, and tools that count from 0, are at home on low ones.
 * Busy is compared in steps of 10 per cent, of which the lowest is called idle: what remains is the
 * tick of the clock that it is counted in.
 *
 * Several CPUs are on as many cores, so that their siblings can stay idle, and those are
 * performance cores if there are enough; all in one last-level cache of one NUMA node if one has
 * enough cores; else in one node, in one package, anywhere. The group is taken whose worst chosen
 * CPU is the best. Only with fewer cores than n do they share.
 *
 * *ret_reason is one malloc'd phrase: "CPU 5: not CPU 0, a performance core, idle, its sibling
 * CPU 13 is idle, fewest interrupts (12)".
 *
 * -ENODEV when no CPU is allowed and online, -ERANGE when fewer than n are, -ENOMEM.
 */
int autochoice_choose(const struct topology *topology, const struct autochoice_input *input,
	unsigned n, struct cpumask *ret, char **ret_reason);

/*
 * autochoice_choose() by which CPUs are isolated now, and by what all of them do, which is watched
 * for a fifth of a second. *ret_why is set for -ENODEV and -ERANGE, malloc'd: "no CPU is both
 * online and allowed here", "only 3 CPUs are online and allowed here, not 4". Another negative
 * errno where it could not look.
 */
int autochoice_now(const struct topology *topology, const struct cpumask *allowed, bool spare_zero,
	unsigned n, struct cpumask *ret, char **ret_reason, char **ret_why);

/*
 * The CPUs for everything that is not the benchmark: online and allowed, without those of
 * `benchmark` and, if something else remains, without their siblings.
 * -ENODATA when the benchmark has all there are.
 */
int autochoice_housekeeping(const struct topology *topology, const struct cpumask *allowed,
	const struct cpumask *benchmark, struct cpumask *ret);

#endif
