/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The idle states of a CPU and their wakeup latencies (Documentation/admin-guide/pm/cpuidle.rst,
 * Documentation/ABI/testing/sysfs-devices-system-cpu).
 */
#ifndef QUIESCE_MACHINE_CPUIDLE_H
#define QUIESCE_MACHINE_CPUIDLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* CPUIDLE_STATE_MAX of include/linux/cpuidle.h is 10. */
	CPUIDLE_STATES_MAX = 16,
	CPUIDLE_NAME_SIZE = 32, /* CPUIDLE_NAME_LEN is 16 */
	/* The exit latency of a halt state is at most this; a deeper state has a longer one. */
	CPUIDLE_HALT_US = 5,
};

struct cpuidle_state {
	char name[CPUIDLE_NAME_SIZE]; /* "C6"; "" when unknown */
	uint64_t latency_us;	      /* the worst-case exit latency */
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
 * that decides alone. -EBADMSG where the CPU has idle states but even the first cannot be read. */
int cpuidle_read(int cpu, struct cpuidle *ret);
/* The shallowest state that is not polling; NULL when there is none. */
const struct cpuidle_state *cpuidle_find_halt(const struct cpuidle *cpuidle);

/* The latency limit of one CPU: cpuN/power/pm_qos_resume_latency_us
 * (Documentation/ABI/testing/sysfs-devices-power). */
enum {
	CPUIDLE_NO_LIMIT = -1, /* "0" */
};
/* Microseconds, 0 for "n/a": polling only. An errno where the file cannot be read. */
int cpuidle_read_limit(int cpu, int64_t *ret_us);

#endif
