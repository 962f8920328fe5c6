/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs would be the best: --pick, and the default of -c. */
#ifndef QUIESCE_ISOL_CHECK_PICK_H
#define QUIESCE_ISOL_CHECK_PICK_H

#include "machine/cpumask.h"
#include "machine/topology.h"

/*
 * autochoice_now() among the CPUs that this process may use. Says what is wrong: -ERANGE where
 * there are fewer than n, another negative errno where it could not look. Of a recorded machine all
 * CPUs may be used, and there is nothing to watch.
 */
int pick_choose(const struct topology *topology, bool recorded, unsigned n, struct cpumask *ret,
	char **ret_reason);

/* --pick[=N]; n is 0 without N. Prints the list, and with `verbose` the reason on standard error.
 * Says what is wrong; a negative errno. */
int pick_run(unsigned n, bool recorded, bool verbose);

#endif
