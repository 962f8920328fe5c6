/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef QUIESCE_LIBRARY_COLUMNS_H
#define QUIESCE_LIBRARY_COLUMNS_H

#include <stdint.h>

#include "library/private.h"

/* Sums the column of a CPU. The first line names the columns "CPU0 CPU2 ...": offline CPUs have
 * none. Lines that do not count per CPU (ERR, MIS) are skipped. -1 where the CPU has no column. */
int64_t columns_sum(const char *table, int cpu);

#endif
