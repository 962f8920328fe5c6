/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the libraries measure in bench/sampler: the same instructions for all, in C and in C++. Each
 * body waits for the one before, and the compiler cannot leave it out or see through it.
 */
#ifndef QUIESCE_BENCH_BODIES_H
#define QUIESCE_BENCH_BODIES_H

#include <stdint.h>
#include <string.h>

enum {
	BODIES_SLOTS = 1024, /* 4 KiB: a first-level cache */
	BODIES_STEPS = 16,
	BODIES_COPIED = 4096,
};

static uint32_t bodies_next[BODIES_SLOTS];
static char bodies_from[BODIES_COPIED], bodies_to[BODIES_COPIED];

/* To be called once. */
static inline void bodies_prepare(void)
{
	uint32_t x = 1;

	/* One cycle through all slots (Sattolo's shuffle). */
	for (uint32_t i = 0; i < BODIES_SLOTS; i++)
		bodies_next[i] = i;
	for (uint32_t i = BODIES_SLOTS - 1; i > 0; i--) {
		uint32_t other, kept = bodies_next[i];

		x = x * 1664525 + 1013904223;
		other = (x >> 8) % i;
		bodies_next[i] = bodies_next[other];
		bodies_next[other] = kept;
	}
	memset(bodies_from, 1, sizeof(bodies_from));
	memset(bodies_to, 2, sizeof(bodies_to));
}

/* Nothing, which the compiler cannot leave out. */
static inline uint64_t body_empty(uint64_t x)
{
	__asm__ volatile("" : : : "memory");
	return x;
}

/* One cycle. */
static inline uint64_t body_add(uint64_t x)
{
	x += 3;
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* Six cycles (Marsaglia's generator of random numbers). */
static inline uint64_t body_xorshift(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* About 10 ns: multiplications that wait for each other, 3 cycles each on most CPUs. What is around
 * them, the loop above all, is done meanwhile. */
static inline uint64_t body_chain(uint64_t x)
{
#if defined(__x86_64__)
	__asm__ volatile("imul $3, %0, %0\n\timul $5, %0, %0\n\timul $7, %0, %0\n\t"
			 "imul $3, %0, %0\n\timul $5, %0, %0\n\timul $7, %0, %0\n\t"
			 "imul $3, %0, %0\n\timul $5, %0, %0\n\timul $7, %0, %0\n\t"
			 "imul $9, %0, %0"
			 : "+r"(x)
			 :
			 : "cc");
#else
	for (int i = 0; i < 10; i++) {
		x *= 3;
		__asm__ volatile("" : "+r"(x));
	}
#endif
	return x;
}

/* Loads that wait for each other. */
static inline uint64_t body_chase(uint64_t x)
{
	for (int i = 0; i < BODIES_STEPS; i++)
		x = bodies_next[x % BODIES_SLOTS];
	__asm__ volatile("" : "+r"(x));
	return x;
}

static inline uint64_t body_copy(uint64_t x)
{
	memcpy(bodies_to, bodies_from, sizeof(bodies_to));
	__asm__ volatile("" : : : "memory");
	return x;
}

#define BODIES(X) X(empty) X(add) X(xorshift) X(chain) X(chase) X(copy)

#endif
