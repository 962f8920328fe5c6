/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who did not leave the shielded CPUs.
 */
#ifndef QUIESCE_CPU_SHIELD_LEFT_H
#define QUIESCE_CPU_SHIELD_LEFT_H

#include "machine/cpumask.h"

/* The threads of the kernel that may be moved and may still run on a quiet CPU: "a, b and 3 more",
 * malloc'd; NULL for none. */
int left_name_threads(const struct cpumask *quiet, char **ret);

#endif
