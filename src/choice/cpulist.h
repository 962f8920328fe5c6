/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs as a person names them, for -c and in a configuration. -EINVAL says that the person is
 * wrong, with *ret_why in words, malloc'd: which option or setting it was is for the caller to say
 * before them. Other errors are -ENOMEM. *ret_why is set for -EINVAL only.
 */
#ifndef QUIESCE_CHOICE_CPULIST_H
#define QUIESCE_CHOICE_CPULIST_H

#include "machine/cpumask.h"
#include "machine/topology.h"

/* As cpumask_parse_list(), and it must name a CPU: "'3-' is not a CPU list: ...". */
int cpulist_parse_list(const char *list, unsigned n_cpus, struct cpumask *ret, char **ret_why);
/* The same for a machine, which has to have them all: "CPU 99 does not exist (present: 0-7)". */
int cpulist_parse(
	const char *list, const struct topology *topology, struct cpumask *ret, char **ret_why);
/* They are online now: "CPU 5 is offline (online: 0-4)". */
int cpulist_check_online(
	const struct topology *topology, const struct cpumask *cpus, char **ret_why);

#endif
