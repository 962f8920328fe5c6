/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long CPUs were in which idle states and at which frequencies, as far as the kernel counts it:
 * cpuN/cpuidle/stateM/time (Documentation/admin-guide/pm/cpuidle.rst), and of each policy
 * stats/time_in_state and stats/total_trans (Documentation/cpu-freq/cpufreq-stats.rst), which
 * drivers in active mode (cpufreq_is_active_driver()) do not have.
 *
 * libcpupower tells which states there are, and which CPUs share a policy. The counters are for
 * callers that read the files themselves, which is cheaper than by the library, which opens them
 * anew each time, and which may have to be done by a process that the library is too large for.
 * Read them on a CPU that is counted: of one that is idle meanwhile, the kernel has not yet counted
 * the time since it fell asleep.
 */
#ifndef QUIESCE_BASE_MACHINE_STATETIME_H
#define QUIESCE_BASE_MACHINE_STATETIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpufreq.h"
#include "base/machine/cpumask.h"

enum {
	/* For more CPUs nothing is counted: each has some six files to be read at each reading. */
	STATETIME_CPUS_MAX = 8,
};

struct statetime;

/* 0 also where there is nothing to read: then there are no files. -ENOMEM. */
int statetime_open(const struct cpumask *cpus, struct statetime **ret);
void statetime_free(struct statetime *states);
DEFINE_CLEANUP(statetime, statetime_free);

/* The files that are to be read. */
size_t statetime_count(const struct statetime *states);
const char *statetime_path(
	const struct statetime *states, size_t index, char buf[static CPUFREQ_PATH_SIZE]);

/* Begins a further reading; the one before it is kept, and the one before that is forgotten. */
void statetime_begin(struct statetime *states);
/* Adds the text of a file to the reading. A file that is not added, or whose text is none of the
 * kernel's, makes its figure unknown. */
void statetime_add(struct statetime *states, size_t index, const char *text);

/* What has changed from the reading before to the newest one; -1 for what is not known. */
struct statetime_change {
	/* Time in idle states deeper than a halt (CPUIDLE_HALT_US), over all CPUs. Not known where
	 * no CPU has any. */
	int64_t deep_idle_ns;
	/* How often the policies have changed their frequencies. */
	int64_t frequency_changes;
	/*
	 * The mean of the frequencies that were set, by the time at each of them. The kernel counts
	 * ticks of 10 ms. So it is known where the frequency did not change, and else where so much
	 * time has passed that a tick more or less makes no more than half a per cent.
	 */
	int64_t mean_khz;
};

void statetime_compare(const struct statetime *states, struct statetime_change *ret);

/* The times at each frequency of a policy, in ticks of 10 ms. */
struct statetime_table {
	uint64_t khz[CPUFREQ_TABLE_MAX];
	uint64_t ticks[CPUFREQ_TABLE_MAX];
	size_t n;
};

/* The text of time_in_state: lines of a frequency and a time. -EBADMSG for any other, -ENOBUFS for
 * too many frequencies; *ret is undefined then. */
int statetime_parse_table(const char *text, struct statetime_table *ret);

#endif
