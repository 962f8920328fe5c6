/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs have which value: most often all have the same. */
#ifndef QUIESCE_ISOL_CHECK_SPREAD_H
#define QUIESCE_ISOL_CHECK_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/cpumask.h"

enum {
	SPREAD_MAX = 6, /* what a person can take in */
};

/* All zero is an empty one. */
struct spread {
	struct {
		char *value;
		struct cpumask *cpus;
	} items[SPREAD_MAX];
	size_t n;
	size_t n_more; /* CPUs with further values */
	bool failed;   /* no memory */
};

void spread_add(struct spread *spread, int cpu, const char *value);
/* "performance", or "CPU 2-3: performance, CPU 4: powersave"; "" when nothing was added. malloc'd,
 * NULL when memory is or was short. */
char *spread_format(const struct spread *spread);
void spread_clear(struct spread *spread);

static inline void cleanup_spread(struct spread *spread)
{
	spread_clear(spread);
}
#define _cleanup_spread_ __attribute__((cleanup(cleanup_spread)))

#endif
