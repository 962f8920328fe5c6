// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "quiet/engine/knob.h"
#include "quiet/freq-pin/policies.h"

const char *policy_path(
	const struct policy *policy, const char *name, char buf[static POLICY_PATH_SIZE])
{
	snprintf(buf, POLICY_PATH_SIZE, "/sys/devices/system/cpu/cpufreq/policy%d/%s", policy->id,
		name);
	return buf;
}

void policies_free(struct policies *policies)
{
	if (!policies)
		return;
	for (size_t i = 0; i < policies->n; i++) {
		cpumask_free(policies->items[i].cpus);
		cpumask_free(policies->items[i].domain);
	}
	free(policies->items);
	cpumask_free(policies->without_policy);
	free(policies);
}

static int find_or_add(struct policies *policies, int id, struct policy **ret)
{
	struct policy *items, *policy;

	/* From the end: mostly the policy is that of the previous CPU. */
	for (size_t i = policies->n; i-- > 0;) {
		if (policies->items[i].id == id) {
			*ret = &policies->items[i];
			return 0;
		}
	}
	items = reallocarray(policies->items, policies->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	policies->items = items;
	policy = &items[policies->n];
	*policy = (struct policy){ .id = id, .cpu = -1 };
	if (cpumask_new(&policy->cpus) < 0)
		return -ENOMEM;
	policies->n++;
	*ret = policy;
	return 0;
}

/* freqdomain_cpus (acpi-cpufreq, cppc_cpufreq): "0 48". */
static int read_domain(struct policy *policy)
{
	char path[POLICY_PATH_SIZE], text[FILE_ATTR_SIZE];
	_cleanup_(cpumask) struct cpumask *domain = NULL;

	if (file_read_attr(
		    AT_FDCWD, policy_path(policy, "freqdomain_cpus", path), text, sizeof(text)) < 0)
		return 0;
	if (cpumask_new(&domain) < 0)
		return -ENOMEM;
	cpumask_add_numbers(domain, text);
	cpumask_andnot(domain, domain, policy->cpus);
	if (!cpumask_is_empty(domain))
		policy->domain = TAKE_PTR(domain);
	return 0;
}

static int read_policy(struct policy *policy)
{
	char path[POLICY_PATH_SIZE];
	uint64_t value;
	int r;

	r = cpufreq_read_policy(policy->cpu, &policy->info);
	if (r == 0)
		r = cpufreq_read_range(policy->cpu, policy->info.driver, &policy->range);
	if (r == -EBUSY || r == -ENOENT) {
		/* The CPU went offline in the meantime. */
		policy->cpu = -1;
		return 0;
	}
	if (r < 0)
		return r;
	policy->auto_select = file_read_attr_u64(AT_FDCWD, policy_path(policy, "auto_select", path),
				      &value) == 0 &&
		value != 0;
	return read_domain(policy);
}

int policies_read(
	const struct topology *topology, const struct cpumask *wanted, struct policies **ret)
{
	_cleanup_(policies) struct policies *policies = calloc(1, sizeof(*policies));
	int r;

	if (!policies)
		return -ENOMEM;
	if (!wanted)
		wanted = topology->present;
	if (cpumask_new(&policies->without_policy) < 0)
		return -ENOMEM;
	cpumask_for_each (cpu, topology->present) {
		bool is_wanted = cpumask_isset(wanted, cpu);
		struct policy *policy;
		int id;

		r = knob_read_policy(cpu, &id);
		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0) {
			if (is_wanted)
				(void)cpumask_set(policies->without_policy, cpu);
			continue;
		}
		r = find_or_add(policies, id, &policy);
		if (r == 0)
			r = cpumask_set(policy->cpus, cpu);
		if (r < 0)
			return r;
		if (cpumask_isset(topology->online, cpu) &&
			(policy->cpu < 0 || (is_wanted && !cpumask_isset(wanted, policy->cpu))))
			policy->cpu = cpu;
		policy->selected = policy->selected || is_wanted;
	}
	for (size_t i = 0; i < policies->n; i++) {
		struct policy *policy = &policies->items[i];

		r = policy_is_active(policy) ? read_policy(policy) : 0;
		/* The answer for all of them: this build cannot read any. */
		if (r == -EOPNOTSUPP) {
			policies->unread = true;
			policy->cpu = -1;
		} else if (r < 0) {
			return r;
		}
	}
	*ret = TAKE_PTR(policies);
	return 0;
}
