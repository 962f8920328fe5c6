/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends the programs that still run on the quiet CPUs before the shield ends, because it cannot end
 * while they run. Only for a partition of cgroup v2: no program can keep another shield from
 * ending.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_EVICT_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_EVICT_H

#include <stdbool.h>

#include "base/systemd/systemd.h"

/* Waits until no program runs there. False if one still does after that many seconds. */
bool evict_wait(unsigned seconds);
/* Sends SIGTERM to all programs there, and ten seconds later SIGKILL, also to those that were
 * started meanwhile; without systemd (NULL) SIGKILL at once. Says so. -EBUSY if one does not end.
 */
int evict_all(struct systemd *manager);

#endif
