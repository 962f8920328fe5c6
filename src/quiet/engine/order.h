/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which knobs are put back, both after a failed apply and by restore: groups in
 * reverse order, and within a group the same order as in the plan.
 */
#ifndef QUIESCE_QUIET_ENGINE_ORDER_H
#define QUIESCE_QUIET_ENGINE_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "quiet/engine/journal.h"

/* The position of an entry of a plan or of a journal: its group and its index. */
struct order_place {
	unsigned group;
	size_t index;
};

void order_sort_backwards(struct order_place *places, size_t n);
/* The index behind the last place of the group that begins at places[begin]. */
size_t order_find_group_end(const struct order_place *places, size_t n, size_t begin);

/*
 * Whether a write with this result (0 or a negative errno) has to be repeated after the other knobs
 * of its group were written. Kernels before 5.3 refuse a minimum above the maximum, and which order
 * avoids that depends on the old and the new limits, so no order is right both for applying and for
 * restoring. Later kernels accept any order (drivers/cpufreq/cpufreq.c, store_one()).
 */
bool order_is_to_write_again(enum knob_kind kind, int error);

/* The same for putting back, where `error` is positive. Also for what a governor is told:
 * `conservative` refuses a down_threshold above its up_threshold. */
bool order_is_to_put_back_again(const struct journal_entry *entry, int error);

#endif
