/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that went offline since a journal was begun, and what Linux made of knobs because of that.
 *
 * - An interrupt whose CPUs are all offline is sent to all online CPUs, and stays there when its
 *   CPUs come back (migrate_one_irq() in kernel/irq/cpuhotplug.c). Some drivers spread their
 *   interrupts again over all online CPUs whenever a CPU comes or goes (virtnet_set_affinity() in
 *   drivers/net/virtio_net.c).
 * - If a driver requests an interrupt while CPUs are offline, these CPUs are taken out of its mask
 *   (irq_setup_affinity() in kernel/irq/manage.c).
 * - The mask of an interrupt may hold offline CPUs as long as it holds an online one; otherwise
 *   writing it gives EINVAL (write_irq_affinity() in kernel/irq/proc.c).
 * - A cpuset of cgroup v1 and a group of resctrl lose the CPU for good.
 * - Files of an offline CPU are gone, or answer EBUSY, as the files of its frequency policy do.
 * - What becomes of threads is told in threads.h.
 */
#ifndef QUIESCE_QUIET_ENGINE_HOTPLUG_H
#define QUIESCE_QUIET_ENGINE_HOTPLUG_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "quiet/engine/journal.h"

struct hotplug {
	struct cpumask *present; /* all CPUs that exist, online or not */
	struct cpumask *online;
	/* Present CPUs that were online when the journal was begun, and are offline now. CPUs that
	 * a setter has taken offline, and will bring back, are `taken`; the others are `missing`.
	 */
	struct cpumask *missing;
	struct cpumask *taken;
	/* Present CPUs that were offline when the journal was begun and are offline now, but not
	 * because of a setter. */
	struct cpumask *offline_before;
};

/* Reads which CPUs are online now. No CPU is missing if the journal is NULL, or if the machine does
 * not have the files that tell. Returns errors of reading these files and the journals. */
int hotplug_read(const struct journal *journal, struct hotplug **ret);
void hotplug_free(struct hotplug *hotplug);
DEFINE_CLEANUP(hotplug, hotplug_free);

/* The CPU that a setter has taken offline by this entry of its journal, and brings back; -1 for an
 * entry of another knob, and of a CPU that was only kept as it was. If the setter was killed, the
 * journal does not know, and the CPU counts as taken. */
int hotplug_find_taken_cpu(const struct journal_entry *entry);

/* Adds the CPUs that are online now to those that the journal lists as online. Returns errors of
 * reading which CPUs are online. */
int hotplug_note_online(struct journal *journal);

/* Whether the value `now` may have come about because CPUs went offline, or because a driver
 * reacted to that: then nobody has changed the knob. For entries whose `new` is known. 1, 0,
 * -ENOMEM. */
int hotplug_made_value(
	const struct hotplug *hotplug, const struct journal_entry *entry, const char *now);

/* Whether the file belongs to a CPU that is missing or taken, and therefore does not exist at the
 * moment: 1 and that CPU, otherwise 0 or an error as of errno_is_ours(). A file of a frequency
 * policy exists while any CPU of the policy is online: then it is the first that is missing or
 * taken. */
int hotplug_find_cpu_of_file(const struct hotplug *hotplug, const char *path, struct cpumask **ret);

#endif
