/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread of the machine: the CPUs that it may run on, and what its knobs are called
 * (threads.h).
 */
#ifndef QUIESCE_QUIET_ENGINE_THREAD_H
#define QUIESCE_QUIET_ENGINE_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/machine/cpumask.h"
#include "base/machine/tasks.h"

#define THREAD_SCHEME "thread"
#define FOLLOWER_SCHEME "follower"
/* The value of a follower that may run on all CPUs of its cpuset. */
#define FOLLOWER_EVERYWHERE "all"

/* Whether a negative errno only says that a thread is gone, or that there are no cpusets. With any
 * other error we do not know what we need to know. */
bool thread_is_hidden(int r);

/* Whether this kernel forgets the affinities of threads whenever their cpusets change (threads.h):
 * 1, 0, or -ENODATA where it does not tell its version. */
int thread_is_forgotten(void);

/* The online CPUs that a thread may run on. -ENOENT when it is gone. */
int thread_get_cpus(pid_t tid, struct cpumask *ret);
/* The same with the CPUs that are offline now, from its status in /proc. */
int thread_get_cpus_with_offline(pid_t tid, struct cpumask *ret);
/* Asks for these CPUs; NULL: for all that its cpuset allows. The kernel leaves out those that the
 * cpuset does not allow, and gives -EINVAL when no other remains. -ENOENT when the thread is gone.
 */
int thread_set_cpus(pid_t tid, const struct cpumask *cpus);

/* The paths of the two knobs that a thread can have. */
struct thread_paths {
	char follower[64];
	char chooser[64];
};
struct thread_paths thread_name_knobs(const struct task *task);
/* The thread that "TID@START" names, which is what follows the scheme; -EINVAL. */
int thread_parse(const char *which, pid_t *ret_tid, uint64_t *ret_start);

/* Whether the thread is alive, not of this process, and allowed to be moved. */
bool thread_is_movable(const struct task *task);
/* The kernel's thread of an interrupt, which goes where the interrupt goes. */
bool thread_is_of_interrupt(const struct task *task);

/* The task that this one was started by: the first thread of its process, or of the parent's. NULL
 * when that one is gone. */
const struct task *thread_find_parent(const struct tasks *tasks, const struct task *task);

#endif
