/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One benchmark a CPU: flock(2) on the CPU's own directory in sysfs, /sys/devices/system/cpu/cpuN.
 *
 * Everybody can open that directory and nobody can replace it, so there is no lock file to create,
 * to clean up or to be tricked with, and the kernel lets go of the lock when its holder dies in
 * any way. It is advisory, and as far-reaching as the sysfs mount: a container with a network
 * namespace of its own has a sysfs of its own.
 */
#ifndef QUIESCE_RUNPINNED_CPULOCK_H
#define QUIESCE_RUNPINNED_CPULOCK_H

#include "basic/cleanup.h"
#include "machine/cpumask.h"
#include "state/cpuholder.h"

struct cpulock;

/*
 * Takes all CPUs of the set, or none. -EAGAIN when one of them is taken, with *ret_holder saying
 * which and by whom.
 */
int cpulock_try(const struct cpumask *cpus, struct cpulock **ret, struct cpuholder *ret_holder);
void cpulock_free(struct cpulock *lock);

DEFINE_CLEANUP(cpulock, cpulock_free);

#endif
