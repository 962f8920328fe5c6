/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the benchmark runs, and where runpinned itself stays meanwhile.
 */
#ifndef QUIESCE_RUNPINNED_PLACE_H
#define QUIESCE_RUNPINNED_PLACE_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

struct place {
	struct cpumask *cpus;
	char *cpus_text; /* "3" */
	char *reason;	 /* why these, for `auto`; NULL when they were asked for */
	/* benchmark.target keeps them apart: who is to run there has to join first (join.h). */
	bool join;
	/* The CPUs for runpinned itself: others than the benchmark's, and not their siblings if
	 * there is a choice. Empty when the benchmark has all. */
	struct cpumask *housekeeping;
};

/*
 * list is as of -c, NULL for `auto`. Says what is wrong; -EINVAL for a list that is none or names a
 * CPU that does not exist, is offline or is not allowed here, other negative errnos where we could
 * not look.
 */
int place_choose(const char *list, struct place **ret);
void place_free(struct place *place);

DEFINE_CLEANUP(place, place_free);

#endif
