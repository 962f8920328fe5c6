/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings that the kernel changes when a CPU goes offline, and does not change back when the CPU
 * is online again. smt-off keeps them for restore:
 *
 * - An interrupt whose affinity has no online CPU left gets all online CPUs
 *   (migrate_one_irq() in kernel/irq/cpuhotplug.c; seen on 6.1, 6.12 and 7.2).
 * - A cpuset of cgroup v1 loses the CPU from its mask (hotplug_update_tasks_legacy() in
 *   kernel/cgroup/cpuset.c, in 6.12 cpuset-v1.c); a cpuset of v2 does not.
 * - A group of resctrl loses the CPU, which belongs to the root group when it is back
 *   (resctrl_offline_cpu() in fs/resctrl/rdtgroup.c, before 6.16 in
 *   arch/x86/kernel/cpu/resctrl).
 * - The governor of a policy whose CPUs are all offline forgets what it was told: see
 *   quiet/engine/tunables.h. (The kernel keeps the limits and the name of the governor.)
 * - A policy whose boost was switched off while the others have theirs has it when it is back:
 *   cpufreq_online() of 6.14 and 6.15 gives each policy that comes the state of cpufreq/boost.
 * - The idle driver of guests of KVM, haltpoll, registers a CPU anew that comes back, with no idle
 *   state disabled (haltpoll_cpu_offline() in drivers/cpuidle/cpuidle-haltpoll.c,
 *   __cpuidle_device_init() in drivers/cpuidle/cpuidle.c). Other drivers register a CPU once.
 * - virtio_net gives each of its queues other CPUs whenever a CPU goes or comes
 *   (virtnet_set_affinity() in drivers/net/virtio_net.c), which takes the place of what was chosen.
 * - A thread loses its affinity, or the CPU from it: see quiet/engine/threads.h.
 */
#ifndef QUIESCE_QUIET_SMT_OFF_SIDEEFFECT_H
#define QUIESCE_QUIET_SMT_OFF_SIDEEFFECT_H

#include <stdbool.h>

#include "base/machine/cpumask.h"
#include "base/machine/irqline.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"

/*
 * Adds a kept knob for the affinity of every interrupt that can be moved, and for the affinity of
 * new interrupts. Interrupts that cannot be moved have files of mode 0444 from 6.12 on
 * (kernel/irq/proc.c: register_irq_proc()), and are left out. Older kernels do not tell before a
 * write fails: see sideeffect_may_stay().
 */
int sideeffect_add_interrupts(struct knob_plan *plan, unsigned group, struct irqlines *lines);

/*
 * The same when the CPUs are offline by what smt-off has done: an interrupt that irq-steer keeps
 * away from CPUs, and that may come to other CPUs now because of that, is wanted where it was, on
 * those of its CPUs that are still online; and where there are none, where irq-steer lets new
 * interrupts go. `own` is the journal of smt-off.
 */
int sideeffect_add_steered(struct knob_plan *plan, unsigned group, struct irqlines *lines,
	struct journal *own, const struct cpumask *online);
/* Whether irq-steer has moved something, or its journal cannot be read. */
bool sideeffect_are_steered(void);

/* Whether irqbalance has moved an interrupt that went elsewhere because of CPUs that went offline:
 * is_moved() of struct engine. One that stayed where it was is as little ours as irqbalance's. */
int sideeffect_is_balanced(const struct journal_entry *entry, const char *now);

/* Adds a kept knob for the CPUs of every cpuset of cgroup v1, parents first, because a child can
 * have only CPUs of its parent. Adds nothing where cgroup v1 has no cpusets. */
int sideeffect_add_cpusets(struct knob_plan *plan, unsigned group);

/* Adds a kept knob for the CPUs of every group of resctrl but the root, parents first: a group that
 * only monitors can have only CPUs of the one above (rdtgroup_cpus_write(), same file). */
int sideeffect_add_resctrl(struct knob_plan *plan, unsigned group);

/* Adds a kept knob for all that the frequency policies of CPUs that go offline forget. */
int sideeffect_add_policies(struct knob_plan *plan, unsigned group, const struct cpumask *going);

/* Adds a kept knob for each idle state of CPUs that go offline, where they forget that it was
 * disabled. */
int sideeffect_add_idle_states(struct knob_plan *plan, unsigned group, const struct cpumask *going);

/* Adds a kept knob for the CPUs that each queue for sending serves (xps_cpus in
 * Documentation/ABI/testing/sysfs-class-net-queues), of the cards of this network namespace. The
 * file of a card with one queue cannot be read, and such a knob is not kept. */
int sideeffect_add_queues(struct knob_plan *plan, unsigned group);

/*
 * For a restore with this journal: hands the cpuset controller down while the CPUs come back, if a
 * thread was started since they went that may lack them. A partition that ends while they are away,
 * which is the wrong order (cpu-shield(8)), leaves threads in the root cpuset with the CPUs that
 * are online then; there the kernel gives nothing back when CPUs come, and in any other cpuset it
 * does, with regard to what threads have chosen (quiet/engine/threads.h; seen on 6.12 and 7.2).
 * Does nothing where that could do harm: where kernels forget what was chosen, and where other CPUs
 * are offline, which threads would lose, or isolated by the boot line, which they would get.
 * Returns 0, or an error of this process.
 */
int sideeffect_hand_down_cpusets(struct journal *journal, unsigned group);

/* Whether a refusal (positive errno) to put this knob back is no failure, because it is an
 * interrupt that nobody can move: EIO in 6.1, EPERM in 6.12. Tries a write to the interrupt. Also
 * the controller of cpusets that somebody else has handed down further by now. */
bool sideeffect_may_stay(const char *path, int error);

#endif
