/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reproducible random numbers: a seed gives the same numbers on every machine. Not for secrets. */
#ifndef QUIESCE_BASE_RANDOM_H
#define QUIESCE_BASE_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15

/* SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014): small, and
 * good for any seed, also 0. *state begins as the seed. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z;

	*state += RANDOM_STEP;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* What random_next() gives for a seed after `index` earlier numbers. */
static inline uint64_t random_at(uint64_t seed, uint64_t index)
{
	uint64_t state = seed + index * RANDOM_STEP;

	return random_next(&state);
}

/* [0, 1) */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

/* Puts n items into an order that is drawn, each with the same probability (Fisher and Yates). */
static inline void random_shuffle(uint64_t *state, size_t items[], size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)(random_next(state) % i), other = items[j];

		items[j] = items[i - 1];
		items[i - 1] = other;
	}
}

/* Standard normal (Box and Muller 1958). */
static inline double random_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - random_unit(state)));

	return radius * cos(6.283185307179586 * random_unit(state));
}

#endif
