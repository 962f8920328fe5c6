/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers for tests: the same on every machine and in every run, from a seed.
 */
#ifndef QUIESCE_UNIT_RANDOM_H
#define QUIESCE_UNIT_RANDOM_H

#include <math.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): any seed is as good as another. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

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
