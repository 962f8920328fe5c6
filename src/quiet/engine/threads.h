/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads, and the CPUs that they may run on, as knobs.
 *
 * What happens to an affinity that was requested with sched_setaffinity(2), from
 * kernel/sched/core.c and kernel/cgroup/cpuset.c of 6.1 and 6.12:
 *
 * - When a thread wants to run and all its CPUs are offline, it gets all CPUs of its cpuset, and
 *   every kernel forgets the affinity (select_fallback_rq()). Until the thread wants to run, it
 *   keeps the affinity. A thread of the root cpuset that still has online CPUs keeps it, too.
 * - A cpuset other than the root changes its CPUs when a CPU goes offline or a partition takes one.
 *   Kernels up to 6.1 then give all CPUs of the cpuset to all its threads (update_tasks_cpumask();
 *   seen). They do the same with threads that are moved into another cpuset, and that happens to
 * all threads when the controller is handed down (cpuset_attach()). From 6.2 on the kernel
 * remembers the affinity (user_cpus_ptr).
 * - The threads of the root cpuset are left alone when CPUs go and come. So a thread that got there
 *   while a CPU was offline stays without that CPU. It may have been moved there when the
 *   controller was no longer handed down, which does not widen its affinity (cpuset_attach() in
 *   6.12), or it was in the root when a partition ended (update_tasks_cpumask() in 6.1).
 * - Of the CPUs that are asked for, kernels up to 6.1 take only those that are online
 *   (guarantee_online_cpus()). Later kernels take the offline ones as well, for a thread of the
 * root cpuset (cpuset_cpus_allowed() in 6.12).
 * - A thread of the root cpuset keeps its offline CPUs, which only its status tells, until it comes
 *   into another cpuset (cpuset_attach()). When it returns to the root because the controller is
 *   withdrawn, it has lost them, even on kernels that remember the affinity. Kernels that apply the
 *   remembered affinity again when a CPU comes back do not do so in the root cpuset
 *   (cpuset_handle_hotplug() in 6.12).
 * So we have to know the affinities, and ask for them again.
 */
#ifndef QUIESCE_QUIET_ENGINE_THREADS_H
#define QUIESCE_QUIET_ENGINE_THREADS_H

#include <stdbool.h>

#include "base/wait.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"
#include "quiet/engine/thread.h"

/*
 * "thread:TID@START": the CPUs that a thread may run on, as a list, without those that are offline.
 * START is when the thread began (field 22 of /proc/PID/stat), because thread numbers are used
 * again. -ENOENT when the thread is gone, or has ended and only waits for its parent to ask.
 */
int thread_read(const char *which, char **ret);
int thread_write(const char *which, const char *text);
int thread_made_by_kernel(const char *which, const char *old, const char *set, const char *now);
int thread_is_chosen(const char *which, const char *old, const char *now);
/* Like thread_read(), but including CPUs that are offline. This is the value that is put back. */
int thread_read_with_offline(const char *which, char **ret);

/* "follower:TID@START": the word "all" for a thread that may run wherever its cpuset allows; for
 * any other, its CPUs as above. */
int follower_read(const char *which, char **ret);
int follower_write(const char *which, const char *text);
int follower_made_by_kernel(const char *which, const char *old, const char *set, const char *now);

/* Whether the CPUs `now` are those of `wanted` that are online: 1, 0 or -ENOMEM. */
int thread_lacks_offline_only(const char *wanted, const char *now);

/* The entry of a thread, of either scheme; NULL for none. */
const struct journal_entry *threads_find_entry(struct journal *journal, const struct task *task);

/* The name of a knob of both schemes, as a format of printf: of the name and number of the thread.
 */
#define THREADS_NAME "affinity of %s (%d)"
/* What the knobs of both schemes are called together in tables. */
#define THREADS_FOLD "affinities of threads"

/* The backends of both schemes, as entries of a setter's array. */
#define THREAD_BACKENDS                                                                    \
	{                                                                                  \
		.scheme = THREAD_SCHEME,                                                   \
		.read = thread_read,                                                       \
		.write = thread_write,                                                     \
		.made_by_kernel = thread_made_by_kernel,                                   \
		.is_chosen = thread_is_chosen,                                             \
		.read_with_offline = thread_read_with_offline,                             \
		.lacks_offline_only = thread_lacks_offline_only,                           \
		.fleeting = THREADS_FOLD,                                                  \
	},                                                                                 \
	{                                                                                  \
		.scheme = FOLLOWER_SCHEME, .read = follower_read, .write = follower_write, \
		.made_by_kernel = follower_made_by_kernel,                                 \
		.lacks_offline_only = thread_lacks_offline_only, .fleeting = THREADS_FOLD, \
	}

/*
 * Adds a knob for each thread that has chosen its CPUs: it may run on fewer CPUs than its cpuset
 * allows, or it is in the root cpuset and does not have all offline CPUs. Such a thread is wanted
 * on the CPUs that it has chosen, without the quiet ones. If no online CPU would remain, the knob
 * is only kept as it is; so are all of them where the kernel forgets affinities, because then
 * threads get theirs back as soon as it has (pins.h). Threads of this process, and those that
 * cannot be moved, have no knob.
 *
 * Without quiet CPUs (NULL) all these knobs are only kept, and threads that follow their cpusets
 * get such a knob as well. The threads of interrupts do not: they go where their interrupts go.
 *
 * If the journal of the tool has an entry for a thread, that entry is what the thread has chosen,
 * whatever its affinity has become since.
 */
int threads_add(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet);

/*
 * The following two keep CPUs clear by affinities alone, where no cpuset can. Adds a knob for each
 * thread that can be moved and may run on a quiet CPU: it is wanted on its other CPUs, and where
 * there are none, on all online CPUs that are not quiet. Threads and programs that such a thread
 * starts inherit its affinity, so this has to be repeated until it finds nothing more. If they are
 * kept clear already (`again`), a thread that may run on quiet CPUs alone, and is not in the
 * journal, is a benchmark that has been put there, and has no knob. Kernel threads that start later
 * may run on all CPUs, whatever kthreadd may (kthread() in kernel/kthread.c).
 */
int threads_add_all(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet, bool again);
/* Where a cpuset keeps programs away from the quiet CPUs, and kernel threads are in none: as
 * threads_add() for programs, as threads_add_all() for kernel threads. */
int threads_add_kernel(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet);
/*
 * For a tool that has taken CPUs offline while others are kept clear (`quiet`): the kernel may have
 * given more CPUs to threads, as told above. Adds a knob for each thread that may run on a quiet
 * CPU now, and by the journal of the tool had chosen CPUs of which none is quiet: it is wanted on
 * the chosen CPUs that are still online, or else on all online CPUs that are not quiet. A thread
 * that the journal does not have was born meanwhile, and is moved as by threads_add_all() again.
 * This too has to be repeated until it finds nothing more.
 */
int threads_add_strayed(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet);
/* Whether a thread that the journal does not have may not run on all of these CPUs, online or not:
 * 1, 0, or an error. */
int threads_lack(struct journal *journal, const struct cpumask *cpus);
/* The length of the tick of the clock in which the kernel tells when a thread was started, counted
 * from the start of the machine. */
uint64_t threads_tick_ns(void);
/*
 * Waits until the next tick of that clock
 * (10 ms). After it, before any thread is moved, a thread that was started before and one that
 * inherits an affinity can be told from each other. -EINTR.
 */
int threads_wait_tick(void);
/*
 * When has a walk over all threads been the last one? A thread that is being started has the
 * affinity that its parent had at the beginning of fork(2) or clone(2), and is seen only at the end
 * (copy_process() in kernel/fork.c). The long part in between is copying the memory of the parent,
 * so each walk first waits for that (forks_wait()). A parent that loses its CPU just before or
 * after it may take some milliseconds more. So walks go on until they have found nothing for 100
 * ms, or for 5 s where threads start threads all the time.
 */
struct threads_walks {
	struct wait wait;
	int64_t clean_since;
};
struct threads_walks threads_walks_begin(void);
/* After a walk, which has found something or not: whether there has to be another one. Sleeps, and
 * waits for forks, before it returns true. */
bool threads_walks_go_on(struct threads_walks *walks, bool found);
/*
 * Gives the threads that were started after the tick of `since` (CLOCK_BOOTTIME, nanoseconds), and
 * have inherited an affinity that a thread of the journal was given, the affinity that this thread
 * had before; it is the nearest ancestor in the journal, or else any thread in it. A thread with
 * any other affinity, or with the affinity of a parent that was not moved, has chosen it and is
 * left alone.
 */
int threads_widen_inheritors(struct journal *journal, uint64_t since, const struct cpumask *quiet);

/*
 * Finds narrowed threads: those of the root cpuset that may run on all online CPUs, but have lost
 * one of the `missing` CPUs as told above. A missing CPU may be online again. Narrowed threads are
 * given all CPUs. If the kernel does not accept that before the missing CPUs are online, the thread
 * is added to the plan as a follower. A thread whose choice is in the journal is left alone. If the
 * journal holds only what an earlier restore could not finish, all threads without a follower's
 * entry in it are left alone, too.
 */
int threads_find_narrowed(
	const struct cpumask *missing, struct journal *journal, struct knob_plan *plan);

#endif
