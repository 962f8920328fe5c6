/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shield without cgroups: every thread that may run on the quiet CPUs is moved by its affinity.
 * It serves where there are no partitions of cgroup v2: with cgroup v1, in containers, and on
 * kernels before 6.1.
 *
 * It is weaker than a partition. A thread that sets its own affinity can still go to the quiet
 * CPUs, and so may new kernel threads; the scheduler still balances load there, but finds nothing
 * to balance.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_AFFINITY_H
#define QUIESCE_QUIET_CPU_SHIELD_AFFINITY_H

#include "base/machine/cpumask.h"
#include "quiet/engine/knob.h"

/*
 * "inheritors:3": the threads that were started while CPU 3 was kept clear, and so may not run
 * there. The word is "kept" while the journal has this knob, else "free"; writing "free" gives them
 * what the threads that started them had before. This knob is put back last, when no thread can
 * inherit a narrow affinity any more.
 */
int inheritors_read(const char *list, char **ret);
int inheritors_write(const char *list, const char *text);
bool inheritors_is_ours(const char *list);

/* Adds the knobs: the threads in the group `first` + 1, which is put back before `first`.
 * -ECANCELED, after saying so, when other CPUs are kept clear already. */
int affinity_add(struct knob_plan *plan, unsigned first, const struct cpumask *online,
	const struct cpumask *quiet, const char *why);
/* Whether the plan is one of affinity_add(). */
bool affinity_is_plan(const struct knob_plan *plan);
/* The same, and the CPUs are kept clear. */
bool affinity_is_up(const struct knob_plan *plan);
/* After an apply: -EPERM, after saying so, when no thread could be moved. Notes on the knob which
 * threads did not move (the first three, and how many more). */
int affinity_verify(struct knob_plan *plan, const struct cpumask *quiet);

#endif
