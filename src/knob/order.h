/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which order knobs are turned back, the same after a failed apply as by restore: groups
 * backwards, and inside of a group as they stand.
 */
#ifndef QUIESCE_KNOB_ORDER_H
#define QUIESCE_KNOB_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "state/knobtext.h"

/* An item of a plan or of a journal: its group, and where it stands. */
struct order_place {
	unsigned group;
	size_t index;
};

void order_sort_backwards(struct order_place *places, size_t n);
/* Behind the last place of the group that begins at places[begin]. */
size_t order_find_group_end(const struct order_place *places, size_t n, size_t begin);

/*
 * Whether a write with this answer (0 or a negative errno) is to be repeated when the others of its
 * group stand. Kernels before 5.3 refuse a minimum above the maximum, and the order that avoids it
 * depends on where the limits come from: there and back again it is never the same one. Later ones
 * take any order (drivers/cpufreq/cpufreq.c, store_one()).
 */
bool order_is_to_write_again(enum knob_kind kind, int error);

#endif
