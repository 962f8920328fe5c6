/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a CPU takes along when it goes offline, and does not bring back:
 *
 * - An interrupt whose mask has no online CPU left goes to all of them, and stays so
 *   (migrate_one_irq() in kernel/irq/cpuhotplug.c; seen on 6.1, 6.12 and 7.2).
 * - A cpuset of cgroup v1 loses the CPU from its mask (hotplug_update_tasks_legacy() in
 *   kernel/cgroup/cpuset.c, in 6.12 cpuset-v1.c); of v2 it does not.
 * - A thread loses what it had chosen, or stays without the CPU: see knob/threads.h.
 */
#ifndef QUIESCE_SMT_OFF_KEPT_H
#define QUIESCE_SMT_OFF_KEPT_H

#include <stdbool.h>

#include "knob/knob.h"

/*
 * Adds a kept knob for the mask of every interrupt that can be moved, and for the mask that new
 * ones get. Interrupts that the kernel keeps where they are cannot be written: from 6.12 on their
 * files have mode 0444 (kernel/irq/proc.c: register_irq_proc()) and are left out; before, nothing
 * tells beforehand.
 */
int kept_add_interrupts(struct knob_plan *plan, unsigned group);

/* Adds a kept knob for the CPUs of every cpuset of cgroup v1, parents first: a child may not have
 * CPUs that its parent has not. Nothing where none is mounted. */
int kept_add_cpusets(struct knob_plan *plan, unsigned group);

/* Whether a refusal (positive errno) to put this knob back is the kernel's usual way: an interrupt
 * that it does not let anybody move, and moves back itself if at all. EIO in 6.1, EPERM in 6.12. */
bool kept_may_stay(const char *path, int error);

#endif
