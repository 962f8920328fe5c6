/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel threads that leave the CPUs of their cpuset.
 *
 * An isolated partition of cgroup v2 takes its CPUs from kernel threads as well. But when a CPU
 * goes or comes, some parts of the kernel bind their own threads anew, and know nothing of cpusets:
 * RCU those of its expedited grace periods (rcutree_affinity_setting() in kernel/rcu/tree.c of
 * 6.12; seen), memory compaction that of each node (kcompactd_cpu_online() in mm/compaction.c of
 * 6.12). Such a thread may then run on the CPUs of the partition. When it is given all CPUs by
 * sched_setaffinity(2), the kernel leaves it those of its cpuset (__sched_setaffinity() in
 * kernel/sched/core.c), which is what it had.
 *
 * The journal has nothing of this: such a thread follows its cpuset before and after, and when the
 * partition ends, the kernel gives it the CPUs back.
 */
#ifndef QUIESCE_QUIET_ENGINE_STRAYS_H
#define QUIESCE_QUIET_ENGINE_STRAYS_H

#include "base/cleanup.h"

struct strays;

/* Notes the kernel threads that may run only on CPUs of their cpuset. */
int strays_note(struct strays **ret);
void strays_free(struct strays *strays);
DEFINE_CLEANUP(strays, strays_free);

/* Gives the CPUs of their cpuset to those of the noted threads (NULL: to all kernel threads) that
 * may run on other CPUs now. A thread that does not let itself be moved stays as it is. */
int strays_call_back(const struct strays *strays);

#endif
