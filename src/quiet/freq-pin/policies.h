/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's cpufreq policies: groups of CPUs that share one frequency setting.
 */
#ifndef QUIESCE_QUIET_FREQ_PIN_POLICIES_H
#define QUIESCE_QUIET_FREQ_PIN_POLICIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpufreq.h"
#include "base/machine/cpumask.h"
#include "base/machine/topology.h"
#include "quiet/freq-pin/wanted.h"

struct policy {
	int id;		      /* N of /sys/devices/system/cpu/cpufreq/policyN */
	struct cpumask *cpus; /* the policy's CPUs that are present, also offline ones */
	bool selected;	      /* at least one CPU of the policy was asked for */
	/* An online CPU of the policy, preferably one that was asked for. -1 when all are offline:
	 * the kernel then refuses to read or write the policy. */
	int cpu;

	/* The rest is set only where policy_is_active(). */
	struct cpufreq_policy_info info;
	struct cpufreq_range range;
	/* CPUs outside of the policy that share its clock (freqdomain_cpus). NULL for none. */
	struct cpumask *domain;
	bool auto_select; /* the firmware chooses the frequency (cppc_cpufreq) */
	struct wanted target;
};

struct policies {
	struct policy *items;
	size_t n;
	/* CPUs that were asked for and have no policy. */
	struct cpumask *without_policy;
	/* Built without libcpupower, which reads them: nothing is known of any policy, and none is
	 * active. */
	bool unread;
};

/* wanted: NULL for all CPUs that are present. */
int policies_read(
	const struct topology *topology, const struct cpumask *wanted, struct policies **ret);
void policies_free(struct policies *policies);
DEFINE_CLEANUP(policies, policies_free);

/* Whether the policy is to be set and can be read. */
static inline bool policy_is_active(const struct policy *policy)
{
	return policy->selected && policy->cpu >= 0;
}

#define POLICY_PATH_SIZE 128
/* Writes the path of a file of the policy into buf, and returns buf. */
const char *policy_path(
	const struct policy *policy, const char *name, char buf[static POLICY_PATH_SIZE]);

#endif
