/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a governor of cpufreq can be told: the files of its folder, cpufreq/GOVERNOR, or
 * cpufreq/policyN/GOVERNOR with drivers that have one for each policy. The kernel removes the
 * folder, and forgets what was written there, when no policy uses the governor any more: because
 * the policies were given another one, or because their CPUs went offline
 * (cpufreq_dbs_governor_exit() in drivers/cpufreq/cpufreq_governor.c, sugov_exit() in
 * kernel/sched/cpufreq_schedutil.c; seen on 6.1, 6.12 and 7.2). Governor `userspace` has no folder,
 * and forgets scaling_setspeed. Whoever makes a policy leave its governor keeps all of that for
 * restore.
 */
#ifndef QUIESCE_QUIET_ENGINE_TUNABLES_H
#define QUIESCE_QUIET_ENGINE_TUNABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "quiet/engine/knob.h"

/* Adds a kept knob for each file of the governor of a policy that can be read and written. Adds
 * nothing when the policy does not tell its governor, the governor has no folder, or this is that
 * of all policies and in the plan already. */
int tunables_add(struct knob_plan *plan, unsigned group, int policy);

/* Whether the governor of a policy is `userspace`. Then scaling_setspeed shows the speed that its
 * limits allow (show_speed() in drivers/cpufreq/cpufreq_userspace.c). */
bool tunables_has_speed(int policy);

/* The governor to which a file of cpufreq belongs, which begins at the result and is *ret_length
 * long; NULL for any other path. */
const char *tunables_find_governor(const char *path, size_t *ret_length);

#endif
