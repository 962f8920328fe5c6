/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the CPUs that the target makes quiet. */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_CHOOSE_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_CHOOSE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "quiet/benchmark-target/settings.h"

struct choice {
	struct cpumask *cpus;
	char *cpus_text; /* "2-3" */
	char *reason;	 /* for `auto`: why these CPUs; NULL when they were asked for */
	/* No other CPU is online, so that programs and interrupts cannot go anywhere else. */
	bool no_others;
	/* All other online CPUs are siblings of the chosen ones: at least one has to stay online.
	 */
	bool only_siblings;
};

/* Says what is wrong; -EINVAL if the configuration is. */
int choose_cpus(const struct settings *settings, struct choice **ret);
void choice_free(struct choice *choice);

DEFINE_CLEANUP(choice, choice_free);

#endif
