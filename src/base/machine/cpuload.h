/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How busy each CPU is at present, and how many device interrupts each has taken since boot: the
 * input of a choice among CPUs (base/where/autochoice.h). Not precise enough to judge a
 * measurement: see procstat.h and interrupts.h for this.
 */
#ifndef QUIESCE_BASE_MACHINE_CPULOAD_H
#define QUIESCE_BASE_MACHINE_CPULOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/irqline.h"
#include "base/machine/topology.h"

struct cpuload {
	size_t n_cpus; /* entries in all arrays, indexed by CPU number */
	/* The share of the interval in which the CPU was not idle; -1 where unknown, as on a
	 * machine that is `renumbered` (topology.h). */
	double *busy;
	uint64_t *interrupts; /* of devices, from /proc/interrupts; 0 where unknown */
	/* Those of them that nobody can keep away: see cpuload_add_fixed(). 0 where unknown. */
	uint64_t *fixed;
};

/* Observes the online CPUs for `ns` nanoseconds, during which it sleeps. Values that cannot be read
 * are unknown. */
int cpuload_watch(const struct topology *topology, int64_t ns, struct cpuload **ret);
void cpuload_free(struct cpuload *load);

DEFINE_CLEANUP(cpuload, cpuload_free);

/*
 * Adds the device rows (INTERRUPT_DEVICE, see interrupts.h) of the text of /proc/interrupts to
 * counts, which is indexed by CPU number. CPUs from n_cpus on are left out, as are rows that lack a
 * number for a column. -EBADMSG when the first line is not a header, -ENOMEM; counts are untouched
 * then.
 */
int cpuload_parse_interrupts(const char *text, size_t n_cpus, uint64_t *counts);

/*
 * Adds, of the same rows, those of lines whose affinity cannot be changed (irqline_is_fixed()), for
 * the CPUs that these lines interrupt at present. A line for one core alone is left out: it is a
 * queue for what the programs of this core ask for, and silent while there are none. `counts` has
 * topology->n_cpus entries. Errors as above.
 */
int cpuload_add_fixed(const char *text, const struct topology *topology,
	const struct irqlines *lines, uint64_t *counts);

#endif
