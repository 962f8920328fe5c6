/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frequencies at which a CPU may run and claims to run, from cpufreq
 * (Documentation/admin-guide/pm/cpufreq.rst; also intel_pstate.rst and amd-pstate.rst). Reads only.
 *
 * A machine without any cpufreq directory is normal: virtual machines, and firmware that controls
 * frequencies alone. All frequencies are in kHz, 0 where the machine does not tell.
 */
#ifndef QUIESCE_BASE_MACHINE_CPUFREQ_H
#define QUIESCE_BASE_MACHINE_CPUFREQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/cpupower.h"

enum {
	CPUFREQ_PATH_SIZE = 128,
};

enum cpufreq_boost {
	/* There is no switch, so that it is unknown whether there is boost, or one that may be off
	 * cannot be read. */
	CPUFREQ_BOOST_UNKNOWN,
	CPUFREQ_BOOST_OFF,
	CPUFREQ_BOOST_ON,
};

struct cpufreq_policy_info {
	char driver[CPUPOWER_NAME_SIZE];   /* "intel_pstate"; "" when unknown */
	char governor[CPUPOWER_NAME_SIZE]; /* "performance"; "" when unknown */
	/* energy_performance_preference: a word or a number; "" where there is none. */
	char epp[CPUPOWER_NAME_SIZE];
	uint64_t hardware_min_khz;
	uint64_t hardware_max_khz;
	/* The limits in force: the requested ones, clamped by other requests, thermal limits and
	 * boost. */
	uint64_t min_khz;
	uint64_t max_khz;
	/* The sustained frequency without turbo: base_frequency of intel_pstate with HWP,
	 * cpuinfo_nominal_freq of powernv-cpufreq, whose table has the turbo states as well, or
	 * what num_pstates and turbo_pct of intel_pstate without HWP say (cpufreq_compute_base()).
	 */
	uint64_t base_khz;
	enum cpufreq_boost boost;
};

/*
 * Reads the policy of a CPU. Each value is what the file said at that moment, "" or 0 if it could
 * not be read. -ENOENT when the CPU has no policy; -EBUSY when it has one but is offline (the
 * kernel then refuses to read any of it); -EOPNOTSUPP when it has one, and libcpupower, which reads
 * it, was not there when this was built; -ENOMEM.
 */
int cpufreq_read_policy(int cpu, struct cpufreq_policy_info *ret);

/*
 * The frequency of the highest P-state that is not turbo, from what intel_pstate tells of all its
 * CPUs: num_pstates is how many states there are, turbo_pct how many per cent of them are turbo,
 * rounded (show_turbo_pct() and show_num_pstates() in drivers/cpufreq/intel_pstate.c). The states
 * are equally far from one another: from the minimum to the maximum, unless the maximum is the one
 * without turbo already (from 6.12 on, while no_turbo is 1), which on most processors the step of
 * 100 MHz tells. 0 where that does not fit together.
 */
uint64_t cpufreq_compute_base(
	uint64_t min_khz, uint64_t max_khz, uint64_t num_pstates, uint64_t turbo_pct);

/* Whether it is the driver of a policy in active mode: intel_pstate and amd-pstate-epp choose the
 * frequency themselves, by the load also under governor `powersave`, and under `performance` the
 * EPP as well. The drivers of the passive modes have other names. */
bool cpufreq_is_active_driver(const char *driver);

enum {
	CPUFREQ_TABLE_MAX = 128,
};

/* The frequencies of a policy, as far as the driver tells. */
struct cpufreq_range {
	/*
	 * scaling_available_frequencies and scaling_boost_frequencies, the highest first; the first
	 * n_boost of n_table are boost. With acpi-cpufreq a first entry 1 MHz above the second is
	 * the marker by which ACPI tables ask for turbo, and counts as boost.
	 */
	uint64_t table_khz[CPUFREQ_TABLE_MAX];
	unsigned n_table;
	unsigned n_boost;
	/* The frequency without boost: cpuN/acpi_cppc/nominal_freq, which is in MHz. */
	uint64_t nominal_khz;
	/* The frequency with boost, also while boost is off: amd_pstate_max_freq. */
	uint64_t boost_max_khz;
	/* What the firmware allows at present; only acpi-cpufreq tells. */
	uint64_t bios_limit_khz;
};

/* `driver` is that of the CPU's policy, which is there. -EOPNOTSUPP, -ENOMEM. */
int cpufreq_read_range(int cpu, const char *driver, struct cpufreq_range *ret);

/*
 * Whether boost (turbo) is allowed on a CPU. Where the driver keeps it: intel_pstate/no_turbo for
 * intel_pstate and intel_cpufreq; else cpufreq/boost for all CPUs, and boost or cpb (acpi-cpufreq
 * on AMD) of the CPU's policy. If any of them is off, boost is off: kernels 6.1 and 6.12 let the
 * policies and the global switch disagree. libcpupower does not know boost.
 */
enum cpufreq_boost cpufreq_read_boost(int cpu, const char *driver);
/* The path of a switch of boost that is there, which may be in buf; NULL for none. */
const char *cpufreq_find_boost_switch(int cpu, char buf[static CPUFREQ_PATH_SIZE]);

/* Writes the path of a file of the CPU's policy into buf, and returns buf. */
const char *cpufreq_path(int cpu, const char *file, char buf[static CPUFREQ_PATH_SIZE]);

/*
 * Opens the CPU's scaling_cur_freq; the caller keeps the descriptor open for cpufreq_read_current()
 * and closes it. -ENOENT where there is none; reading gives -EINVAL for "<unknown>".
 *
 * The value is weak evidence: on x86 the kernel computes it from APERF and MPERF as sampled at the
 * last timer tick, and where this sample is older than some 20 ms (an idle CPU, or one with
 * nohz_full) it returns the frequency last requested instead (arch/x86/kernel/cpu/aperfmperf.c).
 * Most other drivers always return the requested frequency. So a value that differs between runs
 * shows that something changed, but an equal value does not show that the clock was equal; measured
 * cycles show that. Kernels before 5.18 interrupt the CPU to read the value: never read it during a
 * measurement.
 */
int cpufreq_open_current(int cpu);
int cpufreq_read_current(int fd, uint64_t *ret_khz);

#endif
