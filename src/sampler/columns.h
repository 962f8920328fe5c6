/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef QUIESCE_SAMPLER_COLUMNS_H
#define QUIESCE_SAMPLER_COLUMNS_H

#include <stdint.h>

/* The CPU's column, summed up. Columns are named "CPU0 CPU2 ..." in the first line: offline CPUs
 * have none. A line without a number for the CPU has none for anybody (ERR, MIS). -1 where the CPU
 * has no column. */
int64_t columns_sum(const char *table, int cpu);

#endif
