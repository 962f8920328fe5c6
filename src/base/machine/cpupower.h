/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libcpupower reads of cpufreq and cpuidle, for cpufreq.h and cpuidle.h. Nothing else reads
 * these values, so that without the library they are not known: -EOPNOTSUPP from all functions that
 * find something to be read.
 *
 * The library opens, reads and closes a file for each value. Its getters return 0 or NULL for any
 * failure, and take an ERANGE that is left in errno from before for their own
 * (tools/power/cpupower/lib/cpufreq.c and cpuidle.c, 6.1 to 7.2). It reads no switch of boost, no
 * EPP and no base frequency, and gives numbers and words, where a journal needs the text: what a
 * setter puts back is never read here.
 */
#ifndef QUIESCE_BASE_MACHINE_CPUPOWER_H
#define QUIESCE_BASE_MACHINE_CPUPOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/cpumask.h"

enum {
	/* CPUFREQ_NAME_LEN and CPUIDLE_NAME_LEN of the kernel are 16; EPP words are shorter than
	 * 32. */
	CPUPOWER_NAME_SIZE = 32,
};

/*
 * The driver of a CPU's policy; "" when it is not told. -ENOENT when the CPU has no policy, -EBUSY
 * when it is offline, -ENOMEM.
 */
int cpupower_read_driver(int cpu, char ret[static CPUPOWER_NAME_SIZE]);

/* Frequencies are in kHz. "" and 0 for what cannot be read. */
struct cpupower_limits {
	char governor[CPUPOWER_NAME_SIZE];
	uint64_t min_khz;
	uint64_t max_khz;
	uint64_t hardware_min_khz;
	uint64_t hardware_max_khz;
};

/* The limits of a CPU's policy. -ENOMEM. */
int cpupower_read_limits(int cpu, struct cpupower_limits *ret);

/* Adds the frequencies of a policy's table, of those with boost or of the others, to the first *n
 * of `size` in khz; none where there is no such table. -ENOMEM. */
int cpupower_read_table(int cpu, bool boost, uint64_t *khz, unsigned size, unsigned *n);

/* The CPUs of a CPU's policy, also those that are offline. -ENOENT when they are not told. */
int cpupower_read_related(int cpu, struct cpumask **ret);

struct cpupower_idle_state {
	char name[CPUPOWER_NAME_SIZE]; /* "" when it has none */
	uint64_t latency_us;
	bool disabled;
	bool disabled_unread; /* there is such a file, and it does not tell */
};

/*
 * Reads an idle state that exists. The library's 0 is confirmed by the file itself, since POLL has
 * a latency of 0, and most states are not disabled. -EINVAL, -ERANGE or -ENOENT for a latency that
 * is not told, -EFBIG for a name that is too long, or an errno of reading.
 */
int cpupower_read_idle_state(int cpu, unsigned index, struct cpupower_idle_state *ret);
/* How often the CPU has entered the state since boot. A negative errno where that is not told. */
int cpupower_read_idle_usage(int cpu, unsigned index, uint64_t *ret);

/* Whether a text is one printable word; "<unknown>" and "<unsupported>" are none. */
bool cpupower_is_word(const char *text);

#endif
