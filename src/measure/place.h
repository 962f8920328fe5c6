/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs on which the benchmark runs, and those on which runpinned itself runs meanwhile.
 */
#ifndef QUIESCE_MEASURE_PLACE_H
#define QUIESCE_MEASURE_PLACE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/machine/topology.h"

struct place {
	struct cpumask *cpus;
	char *cpus_text; /* "3" */
	char *reason;	 /* why these CPUs were chosen; NULL when the user gave them */
	/* benchmark.target reserves these CPUs, so a process has to join them first (join.h). */
	bool join;
	/* Files of the kernel's that are about CPUs are those of somebody else (topology.h). */
	bool renumbered;
	/* The machine has no other CPU package than that of these CPUs. */
	bool one_package;
	/* These CPUs are of several kinds, of which `kind` is one. */
	bool mixed_kinds;
	enum topology_kind kind;
	/* The CPUs for runpinned itself: not those of the benchmark, and if possible not their SMT
	 * siblings. Empty when the benchmark has all CPUs. */
	struct cpumask *housekeeping;
};

/*
 * `list` is the argument of that option ("-c"), or NULL to choose the CPUs automatically. Says what
 * is wrong. -EINVAL when the list is not valid or names a CPU that does not exist, is offline or is
 * not allowed here; another negative errno when the machine could not be read.
 */
int place_choose(const char *option, const char *list, struct place **ret);
/* The CPUs that place_choose() will choose when benchmark.target is up: those of the list, or those
 * that a target chose which is up already. NULL for neither; the target will choose them. Says what
 * is wrong; errors as above. */
int place_foresee(const char *option, const char *list, struct cpumask **ret);
void place_free(struct place *place);

DEFINE_CLEANUP(place, place_free);

#endif
