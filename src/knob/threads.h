/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads, and the CPUs that they may run on, as knobs.
 *
 * What becomes of an affinity that sched_setaffinity(2) was asked for, from kernel/sched/core.c and
 * kernel/cgroup/cpuset.c of 6.1 and 6.12:
 *
 * - When a thread wants to run, and the last of its CPUs is offline, it gets all of its cpuset, and
 *   the affinity is forgotten by every kernel (select_fallback_rq()). Until it wants to run it
 *   keeps it. So does one that has CPUs left, in the root cpuset.
 * - When another cpuset changes its CPUs, as each does when a CPU goes offline or a partition takes
 *   it, kernels up to 6.1 give all of them to all of its threads (update_tasks_cpumask(); seen),
 *   and so they do with those that are moved into another cpuset, which is what handing down the
 *   controller means (cpuset_attach()). From 6.2 on the affinity is remembered (user_cpus_ptr).
 * - The threads of the root cpuset are left alone when CPUs go and come. So those that got there
 *   while a CPU was offline stay without it: they are moved there when the controller is no longer
 *   handed down, and what they had in the cpuset before is not widened (cpuset_attach() in 6.12),
 *   or they were in the root and a partition ended (update_tasks_cpumask() in 6.1).
 * - Of what is asked for, kernels up to 6.1 take the CPUs that are online
 *   (guarantee_online_cpus()). Later ones take the others as well for a thread of the root cpuset
 *   (cpuset_cpus_allowed() in 6.12).
 * - A thread of the root cpuset keeps those that are offline, which only its status tells, until it
 *   comes into another cpuset (cpuset_attach()). When it leaves that with the controller, it goes
 *   without them even on kernels that remember what was asked for, and those that look at that once
 *   more when a CPU comes back do not do so in the root cpuset (cpuset_handle_hotplug() in 6.12).
 * So they have to be known, and asked for again.
 */
#ifndef QUIESCE_KNOB_THREADS_H
#define QUIESCE_KNOB_THREADS_H

#include <stdbool.h>

#include "knob/knob.h"
#include "state/journal.h"

/*
 * "thread:TID@START": the CPUs that it may run on, as a list, without those that are offline; START
 * is when it began (field 22 of /proc/PID/stat), because numbers are used again. -ENOENT when it is
 * gone, or has ended and waits for its parent to ask.
 */
#define THREAD_SCHEME "thread"
int thread_read(const char *which, char **ret);
int thread_write(const char *which, const char *text);
int thread_made_by_kernel(const char *which, const char *old, const char *set, const char *now);
/* With those that are offline: what is put back. */
int thread_read_with_offline(const char *which, char **ret);

/* What they are together, in tables. */
#define THREADS_FOLD "affinities of threads"

/* "follower:TID@START": the word "all" for a thread that may run wherever its cpuset allows, else
 * the CPUs as above. */
#define FOLLOWER_SCHEME "follower"
int follower_read(const char *which, char **ret);
int follower_write(const char *which, const char *text);

/*
 * A knob for each thread that may be moved and that may run on fewer CPUs than its cpuset allows,
 * or may not run on one that is offline although it is in the root cpuset: without the quiet CPUs,
 * and merely kept where nothing would be left, or where all that it has is offline. Not the
 * caller's.
 *
 * Without quiet CPUs (NULL) all of them are merely kept, those that follow their cpusets as well;
 * but not the threads of interrupts, which go where these go.
 *
 * What an earlier apply has written down of a thread in the journal of the tool was its choice,
 * whatever came of that since.
 */
int threads_add(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet);

/*
 * Threads of the root cpuset that may run on all CPUs that are online, but not on all of those that
 * are `missing`, or were and are back: these CPUs they have lost as told above, and they are given
 * all. Adds those with which the kernel does not do that before the CPUs are online to the plan, as
 * followers. Whose choice is in the journal is left alone; so are all that are not in one that an
 * earlier restore has left over.
 */
int threads_find_narrowed(
	const struct cpumask *missing, struct journal *journal, struct knob_plan *plan);

#endif
