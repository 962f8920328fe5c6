// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "quiet/engine/order.h"
#include "quiet/engine/tunables.h"

/* Groups in reverse order, and within a group the order of the plan. */
static int compare_places(const void *a, const void *b)
{
	const struct order_place *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

void order_sort_backwards(struct order_place *places, size_t n)
{
	qsort(places, n, sizeof(*places), compare_places);
}

size_t order_find_group_end(const struct order_place *places, size_t n, size_t begin)
{
	size_t end = begin + 1;

	while (end < n && places[end].group == places[begin].group)
		end++;
	return end;
}

bool order_is_to_write_again(enum knob_kind kind, int error)
{
	return kind == KNOB_FREQUENCY && error == -EINVAL;
}

bool order_is_to_put_back_again(const struct journal_entry *entry, int error)
{
	size_t length;

	return order_is_to_write_again(entry->kind, -error) ||
		(error == EINVAL && tunables_find_governor(entry->path, &length));
}
