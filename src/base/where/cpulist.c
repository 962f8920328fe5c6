// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/machine/isolation.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/where/cpulist.h"

int cpulist_parse_list(const char *list, unsigned n_cpus, struct cpumask *ret, char **ret_why)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *what = NULL;
	struct cpumask_error error;
	int r;

	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	r = cpumask_parse_list(list, n_cpus, cpus, &error);
	if (r == -EINVAL || r == -ERANGE) {
		what = cpumask_format_error(&error);
		return text_refuse(ret_why, -EINVAL, "'%s' is not a CPU list: %s", list,
			what ? what : error.reason);
	}
	if (r < 0)
		return r;
	if (cpumask_is_empty(cpus))
		return text_refuse(ret_why, -EINVAL, "'%s' names no CPU", list);
	cpumask_assign(ret, cpus);
	return 0;
}

static int check_present(
	const struct topology *topology, const struct cpumask *cpus, char **ret_why)
{
	cpumask_for_each (cpu, cpus) {
		_cleanup_free_ char *have = NULL;

		if (cpumask_isset(topology->present, cpu))
			continue;
		have = cpumask_format_list(topology->present);
		return text_refuse(ret_why, -EINVAL, "CPU %d does not exist (present: %s)", cpu,
			have ? have : "?");
	}
	return 0;
}

int cpulist_parse(
	const char *list, const struct topology *topology, struct cpumask *ret, char **ret_why)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	int r;

	r = cpumask_new(&cpus);
	if (r == 0)
		r = cpulist_parse_list(list, topology->n_cpus, cpus, ret_why);
	if (r == 0)
		r = check_present(topology, cpus, ret_why);
	if (r == 0)
		cpumask_assign(ret, cpus);
	return r;
}

int cpulist_check_online(
	const struct topology *topology, const struct cpumask *cpus, char **ret_why)
{
	int r;

	r = check_present(topology, cpus, ret_why);
	if (r < 0)
		return r;
	cpumask_for_each (cpu, cpus) {
		_cleanup_free_ char *have = NULL;

		if (cpumask_isset(topology->online, cpu))
			continue;
		have = cpumask_format_list(topology->online);
		return text_refuse(
			ret_why, -EINVAL, "CPU %d is offline (online: %s)", cpu, have ? have : "?");
	}
	return 0;
}

int cpulist_find_denied(const struct cpumask *cpus, int *ret_cpu, char **ret_why)
{
	_cleanup_free_ char *cause = NULL;
	int r, cpu;

	r = isolation_find_denied(cpus, &cpu);
	if (r <= 0)
		return r;
	(void)isolation_explain_denied(cpu, &cause);
	r = text_refuse(ret_why, 1, "CPU %d is not allowed here%s%s", cpu, cause ? ": " : "",
		cause ? cause : "");
	if (r > 0)
		*ret_cpu = cpu;
	return r;
}
