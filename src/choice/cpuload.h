/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How busy each CPU is just now, and how many interrupts of devices each has taken since boot: what
 * a choice among CPUs is made by (autochoice.h). Not for evidence: see procstat.h and interrupts.h.
 */
#ifndef QUIESCE_CHOICE_CPULOAD_H
#define QUIESCE_CHOICE_CPULOAD_H

#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

struct cpuload {
	size_t n_cpus;	      /* entries in both, by CPU number */
	double *busy;	      /* share of the time watched that the CPU was not idle; -1 unknown */
	uint64_t *interrupts; /* of devices, by /proc/interrupts; 0 where unknown */
};

/* Watches the CPUs of mask for so long, which it sleeps. What cannot be read is unknown. */
int cpuload_watch(const struct cpumask *mask, size_t n_cpus, int64_t ns, struct cpuload **ret);
void cpuload_free(struct cpuload *load);

DEFINE_CLEANUP(cpuload, cpuload_free);

/*
 * Adds up the devices' rows (INTERRUPT_DEVICE, see interrupts.h) of the text of /proc/interrupts
 * into counts, by CPU number; CPUs from n_cpus on are left out, as are rows that lack a number for
 * a column. -EBADMSG when the first line is no header, -ENOMEM; counts are untouched then.
 */
int cpuload_parse_interrupts(const char *text, size_t n_cpus, uint64_t *counts);

#endif
