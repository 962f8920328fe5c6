// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runpinned-control ROUNDS: the control that ships (runpinned --control). It does the same work in
 * each run: ROUNDS rounds of some 100 us, in which arithmetic, unpredictable branches, caches and
 * memory take about a quarter each. Whatever slows programs down in general slows this one down,
 * too.
 *
 * Results of different days are compared by it, so a change here makes all earlier results
 * incomparable: the file's hash is part of them. It is linked whole, without debugging information,
 * so that equal sources and compilers give equal files.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/parse.h"

enum {
	ARITHMETIC_STEPS = 12000, /* of two multiplications that wait for each other */
	BRANCHES = 5000,
	SMALL_READS = 3500,	 /* within a first or second level cache */
	SMALL_WORDS = 64 * 1024, /* 256 KiB */
	/* Each round uses the next of these blocks. After the last block the first one follows,
	 * which by then is in no cache except perhaps the largest. Short runs touch few of them,
	 * because the kernel has to clear each page that is touched first. */
	BLOCK_WORDS = 16 * 1024, /* 64 KiB */
	BLOCKS = 256,		 /* 16 MiB */
	LARGE_READS = 150,	 /* of all blocks that were touched */
};

static uint32_t small[SMALL_WORDS];
static uint32_t large[BLOCKS][BLOCK_WORDS];

/* Marsaglia, Xorshift RNGs, 2003. */
static uint64_t draw(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x;
}

static uint64_t compute(uint64_t x)
{
	double y = 1 + (double)(x & 0xff) / 256;

	for (int i = 0; i < ARITHMETIC_STEPS; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		y = y * 0.999 + 0.002;
	}
	return x + (uint64_t)(y * 1000);
}

/* A random bit decides the branch, and each step depends on the step before, so that the compiler
 * cannot remove the branch. */
static uint64_t choose(uint64_t *state)
{
	uint64_t sum = 0;

	for (int i = 0; i < BRANCHES; i++) {
		uint64_t x = draw(state);

		if (x & 0x100)
			sum += small[x >> 50];
		else
			sum ^= sum << 1 | 1;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

/* Each read tells where the next one goes. */
static uint64_t chase_small(uint64_t at)
{
	for (int i = 0; i < SMALL_READS; i++)
		at = (small[at % SMALL_WORDS] + (uint64_t)i * 7919) % SMALL_WORDS;
	return at;
}

static uint64_t use_memory(uint64_t round, uint64_t *state)
{
	uint64_t n = round < BLOCKS ? round + 1 : BLOCKS, sum = 0;
	uint32_t *block = large[round % BLOCKS];

	for (int i = 0; i < BLOCK_WORDS; i++)
		block[i] += small[i] ^ (uint32_t)round;
	for (int i = 0; i < LARGE_READS; i++) {
		uint64_t at = (draw(state) + sum) % (n * BLOCK_WORDS);

		sum += large[at / BLOCK_WORDS][at % BLOCK_WORDS] & 0xff;
	}
	return sum;
}

int main(int argc, char *argv[])
{
	uint64_t state = 88172645463325252, rounds, sum = 0;
	volatile uint64_t sink;

	if (argc != 2 || parse_u64(argv[1], 1, UINT64_MAX, &rounds) < 0) {
		fputs("Usage: runpinned-control ROUNDS\n", stderr);
		return 2;
	}
	for (int i = 0; i < SMALL_WORDS; i++)
		small[i] = (uint32_t)draw(&state);
	for (uint64_t round = 0; round < rounds; round++) {
		sum += compute(sum);
		sum += choose(&state);
		sum += chase_small(sum);
		sum += use_memory(round, &state);
	}
	sink = sum;
	(void)sink;
	return 0;
}
