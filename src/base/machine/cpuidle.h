/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The idle states of a CPU and their wakeup latencies (Documentation/admin-guide/pm/cpuidle.rst,
 * Documentation/ABI/testing/sysfs-devices-system-cpu).
 */
#ifndef QUIESCE_BASE_MACHINE_CPUIDLE_H
#define QUIESCE_BASE_MACHINE_CPUIDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/machine/cpupower.h"

enum {
	/* CPUIDLE_STATE_MAX of include/linux/cpuidle.h is 10. */
	CPUIDLE_STATES_MAX = 16,
	CPUIDLE_PATH_SIZE = 96,
	/* The exit latency of a halt state is at most this; a deeper state has a longer one. */
	CPUIDLE_HALT_US = 5,
};

struct cpuidle_state {
	char name[CPUPOWER_NAME_SIZE]; /* "C6"; "" when unknown */
	uint64_t latency_us;	       /* the worst-case exit latency */
	bool disabled;
	/* The state polls and does not sleep (drivers/cpuidle/poll_state.c, cpuidle-powernv.c,
	 * cpuidle-pseries.c). The latency does not tell this: some firmware claims 0 for a halt
	 * state too. */
	bool polling;
};

struct cpuidle {
	struct cpuidle_state states[CPUIDLE_STATES_MAX]; /* the shallowest first */
	unsigned n;
	/* A state, or whether it is disabled, could not be read: this state may be enabled, and the
	 * deeper states are not known. */
	bool unread;
};

/* -ENOENT where the CPU has no idle states: a virtual machine, a kernel with idle=poll, firmware
 * that decides alone. -EBADMSG where the CPU has idle states but even the first cannot be read.
 * -EOPNOTSUPP where it has some, and libcpupower, which reads them, was not there when this was
 * built. */
int cpuidle_read(int cpu, struct cpuidle *ret);
/* The shallowest state that is not polling; NULL when there is none. */
const struct cpuidle_state *cpuidle_find_halt(const struct cpuidle *cpuidle);

/*
 * Writes the path of a file of a state into buf, and returns buf. For callers that read the
 * counters of a state themselves: "time", in microseconds, which the kernel adds to when the CPU
 * leaves the state (drivers/cpuidle/cpuidle.c: cpuidle_enter_state()): of a CPU that is idle while
 * it is read, the time since it fell asleep is missing.
 */
const char *cpuidle_path(
	int cpu, unsigned state, const char *file, char buf[static CPUIDLE_PATH_SIZE]);

/* The latency limit of one CPU: cpuN/power/pm_qos_resume_latency_us
 * (Documentation/ABI/testing/sysfs-devices-power). */
enum {
	CPUIDLE_NO_LIMIT = -1, /* "0" */
};
/* Microseconds, 0 for "n/a": polling only. An errno where the file cannot be read. */
int cpuidle_read_limit(int cpu, int64_t *ret_us);

#endif
