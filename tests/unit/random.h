/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions for tests, from a seed.
 */
#ifndef QUIESCE_UNIT_RANDOM_H
#define QUIESCE_UNIT_RANDOM_H

#include <math.h>
#include <stdint.h>

#include "basic/random.h"

/* [0, 1) */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

/* Standard normal (Box and Muller 1958). */
static inline double random_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - random_unit(state)));

	return radius * cos(6.283185307179586 * random_unit(state));
}

#endif
