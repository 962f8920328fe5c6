// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What bench/gate measures: a program whose work is a number. It sorts BLOCKS times 2^10 numbers,
 * some 80 us each, so 1 % more blocks are 1 % more work, but for the start of the process.
 *
 *	gate-program BLOCKS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/parse.h"

enum {
	N = 1 << 10,
};

static uint32_t numbers[N];

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char *argv[])
{
	uint64_t blocks;
	uint32_t x = 2463534242, sum = 0;

	if (argc != 2 || parse_u64(argv[1], 1, UINT64_MAX, &blocks) < 0) {
		fputs("Usage: gate-program BLOCKS\n", stderr);
		return 2;
	}
	for (; blocks > 0; blocks--) {
		/* Marsaglia's xorshift with a fixed start. */
		for (size_t i = 0; i < N; i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			numbers[i] = x;
		}
		qsort(numbers, N, sizeof(numbers[0]), compare);
		sum = sum * 31 + numbers[N / 2];
	}
	printf("%08x\n", (unsigned)sum);
	return 0;
}
