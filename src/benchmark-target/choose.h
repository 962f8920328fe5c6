/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs the target makes quiet. */
#ifndef QUIESCE_BENCHMARK_TARGET_CHOOSE_H
#define QUIESCE_BENCHMARK_TARGET_CHOOSE_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "benchmark-target/settings.h"
#include "machine/cpumask.h"

struct choice {
	struct cpumask *cpus;
	char *cpus_text; /* "2-3" */
	char *reason;	 /* why these, for `auto`; NULL when they were asked for */
	/* No other CPU is online: there is nowhere to send the rest of the machine. */
	bool no_others;
	/* All others are threads of the same cores: without them there would be none. */
	bool only_siblings;
};

/* Says what is wrong; -EINVAL where that is the configuration. */
int choose_cpus(const struct settings *settings, struct choice **ret);
void choice_free(struct choice *choice);

DEFINE_CLEANUP(choice, choice_free);

#endif
