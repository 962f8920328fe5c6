/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that went offline since a journal was begun, and what Linux made of knobs because of that.
 *
 * - An interrupt whose CPUs are all gone goes to all that are online, and stays so
 *   (migrate_one_irq() in kernel/irq/cpuhotplug.c). Some drivers spread theirs anew over all online
 *   CPUs whenever one comes or goes (virtnet_set_affinity() in drivers/net/virtio_net.c).
 * - An interrupt that a driver asks for first while CPUs are offline loses these from its mask
 *   (irq_setup_affinity() in kernel/irq/manage.c).
 * - A mask of an interrupt may have CPUs that are offline, as long as one is online; without one,
 *   it is EINVAL (write_irq_affinity() in kernel/irq/proc.c).
 * - Files of an offline CPU are gone, or answer EBUSY as those of its frequency policy do.
 * - Of threads see threads.h.
 */
#ifndef QUIESCE_KNOB_HOTPLUG_H
#define QUIESCE_KNOB_HOTPLUG_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"
#include "state/journal.h"

struct hotplug {
	struct cpumask *present; /* plugged in, online or not */
	struct cpumask *online;
	/* Plugged in and offline, and they were online when the journal was begun. Those that
	 * a setter has taken offline, and will bring back, are `taken`, the others `missing`. */
	struct cpumask *missing;
	struct cpumask *taken;
	/* Plugged in and offline, and they were so when the journal was begun, but not because of
	 * a setter. */
	struct cpumask *offline_before;
};

/* How it stands now; the journal may be NULL, then nothing is missing. Where the machine has no
 * files that tell, nothing is, either. Errors of reading them, and the journals. */
int hotplug_read(const struct journal *journal, struct hotplug **ret);
void hotplug_free(struct hotplug *hotplug);
DEFINE_CLEANUP(hotplug, hotplug_free);

/* Writes down in the journal that the CPUs that are online now are online, beside those of which it
 * says that already. Errors of reading them. */
int hotplug_note_online(struct journal *journal);

/* Whether what a knob is now may be what CPUs that went offline, or a driver at that moment, have
 * made of it: then nobody changed it. For entries that say what it had become. 1, 0, -ENOMEM. */
int hotplug_made_value(
	const struct hotplug *hotplug, const struct journal_entry *entry, const char *now);

/* The CPU with which a file is gone for now, if it is one of a CPU that is missing or taken: 1,
 * else 0. -ENOMEM. */
int hotplug_find_cpu_of_file(const struct hotplug *hotplug, const char *path, struct cpumask **ret);

#endif
