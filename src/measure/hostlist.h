/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which benchmarks the programs of a hosted harness have (host.h). */
#ifndef QUIESCE_MEASURE_HOSTLIST_H
#define QUIESCE_MEASURE_HOSTLIST_H

#include "measure/options.h"

/*
 * To be called before expand_programs(), where the harness can be hosted: asks the programs for
 * their benchmarks, unless --benchmark names them and that is enough, and makes a parameter of
 * those that all have, where there are several. Nothing is started with --dry-run. Returns 0,
 * -EINVAL after saying what is asked for wrongly, -ECANCELED when a signal asked to stop
 * (*ret_signal), or another negative errno after saying what failed.
 */
int hostlist_begin(struct options *options, int *ret_signal);

#endif
