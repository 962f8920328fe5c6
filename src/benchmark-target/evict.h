/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ending what still runs on the quiet CPUs when they are to be everybody's again: a shield does not
 * end before. Of cgroup v2; in a cpuset of cgroup v1 cpu-shield moves it to the others.
 */
#ifndef QUIESCE_BENCHMARK_TARGET_EVICT_H
#define QUIESCE_BENCHMARK_TARGET_EVICT_H

#include <stdbool.h>

#include "unit/unit.h"

/* Waits until nothing runs there any more. False after so many seconds. */
bool evict_wait(unsigned seconds);
/* SIGTERM to all that runs there, and SIGKILL ten seconds later, also to what was born meanwhile;
 * without systemd (NULL) SIGKILL at once. Says that it does, and what does not end: -EBUSY. */
int evict_all(struct unit_manager *manager);

#endif
