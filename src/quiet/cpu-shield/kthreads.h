/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel threads that did not leave the shielded CPUs.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_KTHREADS_H
#define QUIESCE_QUIET_CPU_SHIELD_KTHREADS_H

#include "base/machine/cpumask.h"

/* Names the kernel threads that can be moved, but may still run on a quiet CPU: "a, b and 3 more",
 * malloc'd; NULL for none. */
int kthreads_name_remaining(const struct cpumask *quiet, char **ret);

#endif
