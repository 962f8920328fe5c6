/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may have taken a CPU during a measurement: the differences of the kernel's counters between
 * two readings, for each CPU. The tables are read once for all CPUs, because reading them takes
 * long on a big machine.
 */
#ifndef QUIESCE_BASE_MACHINE_SUSPECTS_H
#define QUIESCE_BASE_MACHINE_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/machine/procstat.h"

/* A task, and how long it has run since it was created (/proc/PID/task/TID/schedstat). */
struct suspect_task {
	int tid;
	uint64_t start; /* in clock ticks since boot; with tid it identifies one task */
	int cpu;	/* the CPU where it ran last */
	uint64_t ran_ns;
	char comm[64];
};

/* The texts of /proc/stat, softirqs and interrupts; NULL where one cannot be read. */
struct suspects_reading {
	uint64_t
		read_ticks; /* when the tasks were begun to be read, as struct suspect_task.start */
	/* Sorted by tid, without the tasks of this process and of its descendants; none where the
	 * kernel has no schedstat. */
	struct suspect_task *tasks;
	size_t n_tasks;
	/* The descendants of this process: their number, and the CPU time of those that may run on
	 * the CPUs, and of all children that they have waited for. */
	size_t n_family;
	int64_t family_ns;
	char *stat;
	char *softirqs;
	char *interrupts;
	size_t stat_length;
	size_t softirqs_length;
	size_t interrupts_length;
};

/* Read the counters of the CPUs of mask. The first reading ends with the interrupts, and the second
 * begins with them, because they change fastest. -ENOMEM. */
int suspects_read_before(const struct cpumask *mask, struct suspects_reading *ret);
int suspects_read_after(const struct cpumask *mask, struct suspects_reading *ret);
void suspects_reading_clear(struct suspects_reading *reading);

struct suspect {
	char *name;	/* "LOC: Local timer interrupts" */
	uint64_t count; /* for a task: nanoseconds */
};

struct suspects {
	/* Interrupts that occurred, the most frequent first. */
	struct suspect *interrupts;
	size_t n_interrupts;
	/* "kworker/3:1 (412)": tasks that have run, and were on this CPU at the end, the longest
	 * time first. The time includes the task's time on other CPUs before. */
	struct suspect *tasks;
	size_t n_tasks;
	/* By kind, see procstat_softirq_name(). */
	uint32_t softirqs[PROCSTAT_N_SOFTIRQS];
	/* Time that the hypervisor took, in steps of a tick; negative where unknown. */
	int64_t steal_ns;
};

/* The differences between two readings for one CPU; empty where not known. -ENOMEM. */
int suspects_compare(int cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *ret);
void suspects_clear(struct suspects *suspects);

#endif
