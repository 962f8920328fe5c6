/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where things are in an array, by the hash of what they are looked for by. Things of one hash may
 * be different, so that who looks compares them:
 *
 *	size_t step = 0, at;
 *
 *	while ((at = lookup_next(&lookup, hash, &step)) != SIZE_MAX)
 *		if (is_it(&things[at]))
 *			return at;
 */
#ifndef QUIESCE_BASE_LOOKUP_H
#define QUIESCE_BASE_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

struct lookup_slot {
	uint64_t hash;
	size_t at1; /* the place in the array and 1, or 0 where the slot is free */
};

/* All zero: empty. */
struct lookup {
	struct lookup_slot *slots;
	size_t n, n_slots;
};

/* -ENOMEM; the lookup is as before then. */
int lookup_add(struct lookup *lookup, uint64_t hash, size_t at);
/* The next place that was added with this hash, in the order of lookup_add(). *step is 0 before the
 * first one. SIZE_MAX when there is no further one. */
size_t lookup_next(const struct lookup *lookup, uint64_t hash, size_t *step);
void lookup_clear(struct lookup *lookup);
#define _cleanup_lookup_ __attribute__((cleanup(lookup_clear)))

#endif
