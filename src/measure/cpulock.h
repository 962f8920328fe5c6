/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * At most one benchmark runs on a CPU: flock(2) on the CPU's own directory in sysfs,
 * /sys/devices/system/cpu/cpuN.
 *
 * Every user can open that directory and nobody can replace it, so there is no lock file that must
 * be created or removed, or that somebody could replace with a link. The kernel releases the lock
 * when the process that holds it ends, for whatever reason. The lock is advisory, and it is seen by
 * all who use the same sysfs mount: a container with its own network namespace has its own sysfs.
 */
#ifndef QUIESCE_MEASURE_CPULOCK_H
#define QUIESCE_MEASURE_CPULOCK_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/stop.h"
#include "base/where/cpuholder.h"

struct cpulock;

/*
 * Locks all CPUs of the set, or none. -EAGAIN when another process has locked one of them;
 * *ret_holder then says which CPU and which process. CPUs whose directory a sandbox does not show
 * cannot be locked by anybody who is in there: 0, and cpulock_get_missing() says so.
 */
int cpulock_try(const struct cpumask *cpus, struct cpulock **ret, struct cpuholder *ret_holder);
/*
 * Waits until nobody has the lock of this CPU, so many nanoseconds have passed, or a signal to stop
 * has come; does not keep the lock. Who waits in flock(2) is woken as soon as the lock is free. Who
 * looks now and then never gets it from a script that runs one benchmark after the other: between
 * two of them it is free for a millisecond.
 */
int cpulock_wait(int cpu, int64_t ns, struct stop *stop);
/* 0; else the errno of the first CPU that is not locked because its directory cannot be opened, and
 * this CPU. */
int cpulock_get_missing(const struct cpulock *lock, int *ret_cpu);
void cpulock_free(struct cpulock *lock);

DEFINE_CLEANUP(cpulock, cpulock_free);

#endif
