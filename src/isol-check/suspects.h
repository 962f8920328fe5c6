/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had a CPU while somebody wanted it: what the kernel counted between two readings of its
 * tables, for each CPU by itself. The tables are read once for all CPUs, since a reading is dear on
 * a big machine.
 */
#ifndef QUIESCE_ISOL_CHECK_SUSPECTS_H
#define QUIESCE_ISOL_CHECK_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"
#include "machine/procstat.h"

/* A task, and how long it has run since it was made (/proc/PID/task/TID/schedstat). */
struct suspect_task {
	int tid;
	int cpu; /* where it was last */
	uint64_t ran_ns;
	char comm[64];
};

/* The texts of /proc/stat, softirqs and interrupts; NULL where one cannot be read. */
struct suspects_reading {
	/* By tid, without those of this process; none where the kernel does not say how long they
	 * run. */
	struct suspect_task *tasks;
	size_t n_tasks;
	char *stat;
	char *softirqs;
	char *interrupts;
	size_t stat_length;
	size_t softirqs_length;
	size_t interrupts_length;
};

/* For the CPUs of mask. The first reading ends with the interrupts, and the last begins with them:
 * they change fastest. -ENOMEM. */
int suspects_read_before(const struct cpumask *mask, struct suspects_reading *ret);
int suspects_read_after(const struct cpumask *mask, struct suspects_reading *ret);
void suspects_reading_clear(struct suspects_reading *reading);

struct suspect {
	char *name;	/* "LOC: Local timer interrupts" */
	uint64_t count; /* of a task: nanoseconds */
};

struct suspects {
	/* Interrupts that came at all, the most frequent first. */
	struct suspect *interrupts;
	size_t n_interrupts;
	/* "kworker/3:1 (412)": tasks that have run and were there at the end, the longest first.
	 * What they ran before they came there is in it. */
	struct suspect *tasks;
	size_t n_tasks;
	/* By kind, see procstat_softirq_name(). */
	uint32_t softirqs[PROCSTAT_N_SOFTIRQS];
	/* By the hypervisor, in steps of a tick; negative where unknown. */
	int64_t steal_ns;
};

/* What differs between the two for one CPU. What is not known is empty. -ENOMEM. */
int suspects_compare(int cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *ret);
void suspects_clear(struct suspects *suspects);

#endif
