/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parameters of the kernel's command line that concern CPUs: /proc/cmdline
 * (Documentation/admin-guide/kernel-parameters.rst). What stands behind `--` is for init, and the
 * kernel does not read it (kernel/params.c: parse_args()). It is the only place that shows
 * rcu_nocbs, irqaffinity and the flags of isolcpus.
 */
#ifndef QUIESCE_BASE_MACHINE_BOOTLINE_H
#define QUIESCE_BASE_MACHINE_BOOTLINE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

/* A parameter that is a list of CPUs. */
struct bootline_list {
	char *text; /* as it was given, without flags; NULL: not given */
	/* Empty where the parameter was not given or is not a valid list: the kernel then ignores
	 * the parameter too (rcu_nocbs: it takes all CPUs). */
	struct cpumask *cpus;
	/* It names CPUs that the machine cannot have, for which most kernels refuse the whole list
	 * (cpulist_parse(), with nr_cpu_ids bits where CONFIG_CPUMASK_OFFSTACK is set). Others take
	 * those that there are: what /sys/devices/system/cpu shows decides. */
	bool refused;
	/* Another occurrence of the parameter has a different value. The kernel uses, for each
	 * purpose, the first isolcpus and the first nohz_full, but the last rcu_nocbs and the last
	 * irqaffinity (kernel/sched/isolation.c: housekeeping_setup(); kernel/rcu/tree_nocb.h,
	 * kernel/irq/irqdesc.c). Set for isolcpus and nohz_full only. */
	bool others;
};

struct bootline {
	char *text; /* the whole line */
	/* The flags of isolcpus. Without any flag `domain` is set. The flags of several isolcpus
	 * with the same CPUs add up; of those with different CPUs this is the first with `domain`,
	 * else the first (kernel/sched/isolation.c: housekeeping_isolcpus_setup()). */
	struct bootline_list isolcpus;
	bool domain;
	bool nohz;
	bool managed_irq;
	struct bootline_list nohz_full;
	struct bootline_list rcu_nocbs;
	struct bootline_list irqaffinity;
};

/* n_cpus: how many CPUs the machine can have, for `N` and `all` in lists. Returns the errno of
 * reading the file; -ENODATA for an empty file, -EBADMSG for a truncated or binary one. */
int bootline_read(unsigned n_cpus, struct bootline **ret);
int bootline_parse(const char *text, unsigned n_cpus, struct bootline **ret);
void bootline_free(struct bootline *bootline);

DEFINE_CLEANUP(bootline, bootline_free);

/*
 * The malloc'd value of a parameter without quotes: the last one when the parameter occurs more
 * than once, "" for a parameter without a value. -ENOENT when the parameter does not occur. '-' and
 * '_' are equal in names (kernel/params.c: parameq()).
 */
int bootline_find(const char *text, const char *name, char **ret);

#endif
