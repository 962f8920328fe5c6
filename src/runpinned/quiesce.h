/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine made quiet for as long as we measure (--quiesce), by a guardian process: libexec's
 * `benchmark-target hold`, which starts benchmark.target, or runs the setters where there is no
 * systemd. It puts everything back when its socket is closed, and the kernel does that however we
 * end.
 */
#ifndef QUIESCE_RUNPINNED_QUIESCE_H
#define QUIESCE_RUNPINNED_QUIESCE_H

#include "basic/cleanup.h"
#include "basic/stop.h"
#include "machine/cpumask.h"

struct quiesce;

/*
 * Waits until the machine is quiet. list is as of -c, NULL for what the target's configuration
 * says. An ordinary user can have it only where the target is up already. Says what is wrong;
 * -ECANCELED after a wish to stop.
 */
int quiesce_begin(const char *list, struct stop *stop, struct quiesce **ret);
/* Whether it is those CPUs that are quiet, which they are not when the target was up for others.
 * Says so; -EINVAL. */
int quiesce_check(const struct cpumask *cpus);
/* Waits until everything is back, and has another guardian see to that where the first one was
 * killed. Says what is wrong; NULL is allowed. */
int quiesce_end(struct quiesce *quiesce);

#endif
