/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's cpufreq policies: groups of CPUs that share one frequency setting.
 */
#ifndef QUIESCE_FREQ_PIN_POLICIES_H
#define QUIESCE_FREQ_PIN_POLICIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "freq-pin/wanted.h"
#include "machine/cpufreq.h"
#include "machine/cpumask.h"
#include "machine/topology.h"

struct policy {
	int id;		      /* N of /sys/devices/system/cpu/cpufreq/policyN */
	struct cpumask *cpus; /* those that are present, also offline ones */
	/* It has one of the CPUs that were asked for. */
	bool selected;
	/* One that is online, and was asked for if there is such a one; -1 when all are offline,
	 * and the kernel refuses to read or write the policy. */
	int cpu;

	/* Of a selected one that is online. */
	struct cpufreq_policy_info info;
	struct cpufreq_range range;
	/* CPUs beyond the policy that the hardware runs at the same speed. NULL for none. */
	struct cpumask *domain;
	bool auto_select; /* firmware picks the frequency by itself */
	struct wanted target;
};

struct policies {
	struct policy *items;
	size_t n;
	/* CPUs that were asked for and have no policy. */
	struct cpumask *without;
};

/* wanted: NULL for all CPUs that are present. */
int policies_read(
	const struct topology *topology, const struct cpumask *wanted, struct policies **ret);
void policies_free(struct policies *policies);
DEFINE_CLEANUP(policies, policies_free);

/* Whether it can be read and is to be set. */
static inline bool policy_is_active(const struct policy *policy)
{
	return policy->selected && policy->cpu >= 0;
}

#define POLICY_PATH_SIZE 128
/* The path of one of its files into buf, which is returned. */
const char *policy_path(
	const struct policy *policy, const char *name, char buf[static POLICY_PATH_SIZE]);

#endif
