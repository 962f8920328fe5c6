/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs as a person names them, for -c and in a configuration. -EINVAL means that the person's text
 * is wrong, with the reason in *ret_why, malloc'd; the caller prepends the name of the option or
 * setting. The only other error is -ENOMEM. *ret_why is set only for -EINVAL.
 */
#ifndef QUIESCE_BASE_WHERE_CPULIST_H
#define QUIESCE_BASE_WHERE_CPULIST_H

#include "base/machine/cpumask.h"
#include "base/machine/topology.h"

/* As cpumask_parse_list(), and the list must not be empty: "'3-' is not a CPU list: ...". */
int cpulist_parse_list(const char *list, unsigned n_cpus, struct cpumask *ret, char **ret_why);
/* The same for a machine, which must have all of these CPUs: "CPU 99 does not exist (present:
 * 0-7)". */
int cpulist_parse(
	const char *list, const struct topology *topology, struct cpumask *ret, char **ret_why);
/* Checks that the CPUs are online: "CPU 5 is offline (online: 0-4)". */
int cpulist_check_online(
	const struct topology *topology, const struct cpumask *cpus, char **ret_why);
/* 1 when this process may not run on some of the CPUs, which are online: the lowest of them, and
 * "CPU 6 is not allowed here: cpuset /user.slice has 0-1". 0 when it may run on all. Unlike the
 * other functions also an errno of the kernel's files, as isolation_find_denied(). */
int cpulist_find_denied(const struct cpumask *cpus, int *ret_cpu, char **ret_why);

#endif
