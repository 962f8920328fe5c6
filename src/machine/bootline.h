/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel was started with, as far as it is about CPUs: /proc/cmdline
 * (Documentation/admin-guide/kernel-parameters.rst). For rcu_nocbs, irqaffinity and isolcpus' flags
 * there is no other place to see them.
 */
#ifndef QUIESCE_MACHINE_BOOTLINE_H
#define QUIESCE_MACHINE_BOOTLINE_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

/* A parameter that is a list of CPUs. */
struct bootline_list {
	char *text; /* as it was given, without its flags; NULL: it was not given */
	/* Empty where it was not given, and where the text is no list: the kernel then does without
	 * the parameter as well (rcu_nocbs: takes all CPUs). */
	struct cpumask *cpus;
};

struct bootline {
	char *text; /* the whole line */
	/* The flags of isolcpus; `domain` is meant where it has none (kernel/sched/isolation.c:
	 * housekeeping_isolcpus_setup()). */
	struct bootline_list isolcpus;
	bool domain;
	bool nohz;
	bool managed_irq;
	struct bootline_list nohz_full;
	struct bootline_list rcu_nocbs;
	struct bootline_list irqaffinity;
};

/* n_cpus: how many the machine can have, for `N` and `all` in lists. An errno of reading the file;
 * -ENODATA where it has no byte, -EBADMSG where it was cut off or is no text. */
int bootline_read(unsigned n_cpus, struct bootline **ret);
int bootline_parse(const char *text, unsigned n_cpus, struct bootline **ret);
void bootline_free(struct bootline *bootline);

DEFINE_CLEANUP(bootline, bootline_free);

/*
 * The value of a parameter, malloc'd: the last one where it stands there more than once, "" for a
 * mere word; without quotes. -ENOENT when it is not there. '-' and '_' are the same in names
 * (kernel/params.c: parameq()).
 */
int bootline_find(const char *text, const char *name, char **ret);

#endif
