/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How deep a CPU sleeps when it has nothing to do, and how long it takes to wake up
 * (Documentation/admin-guide/pm/cpuidle.rst, Documentation/ABI/testing/sysfs-devices-system-cpu).
 */
#ifndef QUIESCE_MACHINE_CPUIDLE_H
#define QUIESCE_MACHINE_CPUIDLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* CPUIDLE_STATE_MAX of include/linux/cpuidle.h is 10. */
	CPUIDLE_STATES_MAX = 16,
	CPUIDLE_NAME_SIZE = 32, /* CPUIDLE_NAME_LEN is 16 */
};

struct cpuidle_state {
	char name[CPUIDLE_NAME_SIZE]; /* "C6"; "" when unknown */
	uint64_t latency_us;	      /* to leave it, at worst */
	bool disabled;
	/* No sleep at all (drivers/cpuidle/poll_state.c, cpuidle-powernv.c, cpuidle-pseries.c). The
	 * latency does not tell: some firmware claims 0 of a halt, too. */
	bool polling;
};

struct cpuidle {
	struct cpuidle_state states[CPUIDLE_STATES_MAX]; /* the shallowest first */
	unsigned n;
	/* One is there that cannot be read, or whether it is disabled cannot: it may be allowed,
	 * and those behind it are not known. */
	bool unread;
};

/* -ENOENT where the CPU has no idle states to choose from: a virtual machine, a kernel that was
 * told idle=poll, firmware that decides alone. -EBADMSG where there are some, and not
 * even the first can be read. */
int cpuidle_read(int cpu, struct cpuidle *ret);
/* The shallowest state that is more than polling; NULL for none. */
const struct cpuidle_state *cpuidle_find_halt(const struct cpuidle *cpuidle);

/* A limit that was set for one CPU: cpuN/power/pm_qos_resume_latency_us
 * (Documentation/ABI/testing/sysfs-devices-power). */
enum {
	CPUIDLE_NO_LIMIT = -1, /* "0" */
};
/* Microseconds, 0 for "n/a": polling only. An errno where it cannot be read. */
int cpuidle_read_limit(int cpu, int64_t *ret_us);

#endif
