// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/lookup.h"

enum {
	SLOTS_FIRST = 64, /* a power of 2, as all numbers of slots */
};

/* The table is never full, so that each search ends at a free slot. */
static void put(struct lookup_slot *slots, size_t n_slots, struct lookup_slot slot)
{
	size_t i = slot.hash & (n_slots - 1);

	while (slots[i].at1 > 0)
		i = (i + 1) & (n_slots - 1);
	slots[i] = slot;
}

/* In the order of the old slots from a free one on, things of one hash keep their order. */
static int grow(struct lookup *lookup)
{
	size_t n_slots = lookup->n_slots > 0 ? 2 * lookup->n_slots : SLOTS_FIRST, first = 0;
	struct lookup_slot *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	while (lookup->n_slots > 0 && lookup->slots[first].at1 > 0)
		first++;
	for (size_t i = 0; i < lookup->n_slots; i++) {
		struct lookup_slot *old = &lookup->slots[(first + i) & (lookup->n_slots - 1)];

		if (old->at1 > 0)
			put(slots, n_slots, *old);
	}
	free(lookup->slots);
	lookup->slots = slots;
	lookup->n_slots = n_slots;
	return 0;
}

int lookup_add(struct lookup *lookup, uint64_t hash, size_t at)
{
	if (2 * (lookup->n + 1) > lookup->n_slots && grow(lookup) < 0)
		return -ENOMEM;
	put(lookup->slots, lookup->n_slots, (struct lookup_slot){ hash, at + 1 });
	lookup->n++;
	return 0;
}

size_t lookup_next(const struct lookup *lookup, uint64_t hash, size_t *step)
{
	while (lookup->n_slots > 0) {
		const struct lookup_slot *slot =
			&lookup->slots[(hash + *step) & (lookup->n_slots - 1)];

		if (slot->at1 == 0)
			break;
		++*step;
		if (slot->hash == hash)
			return slot->at1 - 1;
	}
	return SIZE_MAX;
}

void lookup_clear(struct lookup *lookup)
{
	free(lookup->slots);
	*lookup = (struct lookup){ 0 };
}
