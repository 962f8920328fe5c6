/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the best CPUs: for --pick, and as the default of -c. */
#ifndef QUIESCE_LOOK_ISOL_CHECK_PICK_H
#define QUIESCE_LOOK_ISOL_CHECK_PICK_H

#include "base/machine/cpumask.h"
#include "base/machine/topology.h"

/*
 * autochoice_now() among the CPUs that this process may use, or all online CPUs of a recorded
 * machine. Says what is wrong: -ERANGE where there are fewer than n, another negative errno where
 * the machine could not be read.
 */
int pick_choose(const struct topology *topology, bool recorded, bool spare_zero, unsigned n,
	struct cpumask *ret, char **ret_reason);

/* --pick[=N]; n is 0 without N. Prints the list, and with `verbose` the reason on standard error.
 * Says what is wrong. 0 or a negative errno. */
int pick_run(unsigned n, bool recorded, bool verbose);

#endif
