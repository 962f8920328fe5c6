/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running target has achieved, a line for each part, as the setters see it now. */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_PARTS_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_PARTS_H

#include <stdbool.h>

/*
 * *ret: malloc'd lines "shield: an isolated partition of cgroup v2\n", in the order of the setters,
 * from `status --brief` of each. *ret_complete: whether each setter that is to run has done
 * everything. Needs no root. A setter that fails has a line that says why.
 */
int parts_read(char **ret, bool *ret_complete);

#endif
