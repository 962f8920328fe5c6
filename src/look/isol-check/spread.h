/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of CPUs, and which CPUs have which value; mostly all have the same. */
#ifndef QUIESCE_LOOK_ISOL_CHECK_SPREAD_H
#define QUIESCE_LOOK_ISOL_CHECK_SPREAD_H

#include <stddef.h>

#include "base/machine/cpumask.h"

enum {
	SPREAD_MAX = 6, /* more values would be hard to read */
};

/* All zero: empty. */
struct spread {
	struct {
		char *value;
		struct cpumask *cpus;
	} items[SPREAD_MAX];
	size_t n;
	size_t n_more; /* the number of CPUs with other values */
};

void spread_add(struct spread *spread, int cpu, const char *value);
/* "performance", or "CPU 2-3: performance, CPU 4: powersave"; "" when nothing was added. malloc'd.
 */
char *spread_format(const struct spread *spread);
void spread_clear(struct spread *spread);

static inline void cleanup_spread(struct spread *spread)
{
	spread_clear(spread);
}
#define _cleanup_spread_ __attribute__((cleanup(cleanup_spread)))

#endif
