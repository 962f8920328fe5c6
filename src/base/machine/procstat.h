/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel has counted on a set of CPUs since boot: busy, idle and stolen time from
 * /proc/stat, softirqs from /proc/softirqs; and the load of the whole machine from /proc/loadavg.
 * Callers subtract two readings.
 *
 * The callers read the files. The kernel renders the whole of /proc/stat at the first byte
 * (fs/proc/stat.c is a single_open() file), so a short read does not save the kernel the `intr`
 * line; it saves the copy and our parsing.
 */
#ifndef QUIESCE_BASE_MACHINE_PROCSTAT_H
#define QUIESCE_BASE_MACHINE_PROCSTAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

struct procstat;

#define PROCSTAT_STAT "/proc/stat"
#define PROCSTAT_SOFTIRQS "/proc/softirqs"
#define PROCSTAT_LOADAVG "/proc/loadavg"

/* Sums over the mask's CPUs. /proc/stat counts in ticks of 1/sysconf(_SC_CLK_TCK) s, which is 10 ms
 * on all architectures but alpha and ia64, so a difference can be off by one tick per CPU. */
struct procstat_times {
	/* user + nice + system + irq + softirq (guests are part of user). Tick-based accounting (no
	 * CONFIG_VIRT_CPU_ACCOUNTING_GEN) can miss work between ticks altogether. */
	int64_t busy_ns;
	/* Time in which this CPU wanted to run and the hypervisor ran another guest. Always 0 where
	 * the hypervisor does not tell. */
	int64_t steal_ns;
	/* Idle, with or without a task that waits for a disk. The kernel measures it where it stops
	 * the tick of an idle CPU (get_idle_time() in fs/proc/stat.c). */
	int64_t idle_ns;
	/* How many CPUs of the mask had a row. Offline CPUs have none: subtract two readings only
	 * where this number is equal. */
	unsigned n_cpus;
};

/* include/linux/interrupt.h: HI_SOFTIRQ to RCU_SOFTIRQ, unchanged since 2.6.31. */
#define PROCSTAT_N_SOFTIRQS 10

struct procstat_softirqs {
	/* Indexed by kind, see procstat_softirq_name(). The kernel's unsigned int wraps: subtract
	 * as uint32_t. */
	uint32_t counts[PROCSTAT_N_SOFTIRQS];
};

struct procstat_load {
	double load1; /* load average over the last minute */
	/* Runnable threads of the whole machine at this moment, the reader included. */
	unsigned runnable;
};

/* A reader for the CPUs of mask, which is copied. */
int procstat_new(const struct cpumask *mask, struct procstat **ret);
void procstat_free(struct procstat *procstat);

DEFINE_CLEANUP(procstat, procstat_free);

/* "HI", "TIMER", ...: the kernel's name of a kind, a static string; NULL from PROCSTAT_N_SOFTIRQS
 * on. */
const char *procstat_softirq_name(size_t kind);

/* From the texts of /proc/stat and /proc/softirqs; each has `length` bytes. Softirqs of unknown
 * kinds are left out. -ENODEV when no CPU of the mask is online, -EBADMSG when the text has another
 * format. */
int procstat_take_times(const struct procstat *procstat, const char *text, size_t length,
	struct procstat_times *ret);
int procstat_take_softirqs(
	struct procstat *procstat, const char *text, size_t length, struct procstat_softirqs *ret);

/*
 * The same without a reader. `text` may be the beginning of /proc/stat: -EAGAIN when rows of the
 * mask may follow after its end. tick_ns is the length of a tick.
 */
int procstat_parse_times(const struct cpumask *mask, const char *text, size_t length,
	int64_t tick_ns, struct procstat_times *ret);
/* The times of one CPU of the mask after the other, in ascending order. *at begins at the text of
 * /proc/stat, and moves behind the row. 1; 0 when there are no more; errors as above. */
int procstat_next_times(const struct cpumask *mask, const char **at, const char *end,
	int64_t tick_ns, int *ret_cpu, struct procstat_times *ret);
int procstat_parse_softirqs(
	const struct cpumask *mask, const char *text, size_t length, struct procstat_softirqs *ret);
/* Threads of the whole machine that are runnable, the reader included, from the text of /proc/stat.
 * It is the number that /proc/loadavg has (nr_running() in both). */
int procstat_parse_running(const char *text, unsigned *ret);
int procstat_parse_load(const char *text, struct procstat_load *ret);

#endif
