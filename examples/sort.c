// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program worth measuring: it sorts the same 2^17 numbers every time and prints a sum that
 * proves it.
 *
 *	runpinned -n 25 build/examples/sort
 *
 * The work is deterministic: no clock, no files, no random seed, no threads, and the same number
 * of instructions in each run. What differs between two runs is therefore the machine, and how
 * much it differs is what runpinned shows. Two things to try:
 *
 * - run something busy beside it, on the same CPU and on another one, and look at the flags;
 * - change the comparison in merge() from <= to <, which breaks nothing here, and see whether the
 *   difference between the two programs is larger than the difference between two runs of one.
 */
#include <stdint.h>
#include <stdio.h>

enum {
	N = 1 << 17,
};

static uint32_t numbers[N];
static uint32_t scratch[N];

/* Marsaglia's xorshift with a fixed start: numbers without order, the same in every run. */
static void fill(uint32_t *to, size_t n)
{
	uint32_t x = 2463534242;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		to[i] = x;
	}
}

/* Merges the sorted from[0..middle) and from[middle..n) into to. */
static void merge(const uint32_t *from, size_t middle, size_t n, uint32_t *to)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		if (left < middle && (right == n || from[left] <= from[right]))
			to[i] = from[left++];
		else
			to[i] = from[right++];
	}
}

/* Bottom-up merge sort; n is a power of two. Returns where the sorted numbers are. */
static const uint32_t *sort(uint32_t *a, uint32_t *b, size_t n)
{
	for (size_t width = 1; width < n; width *= 2) {
		uint32_t *swap = a;

		for (size_t i = 0; i < n; i += 2 * width)
			merge(a + i, width, 2 * width, b + i);
		a = b;
		b = swap;
	}
	return a;
}

int main(void)
{
	const uint32_t *sorted;
	uint32_t sum = 0;

	fill(numbers, N);
	sorted = sort(numbers, scratch, N);
	for (size_t i = 0; i < N; i++) {
		if (i > 0 && sorted[i - 1] > sorted[i]) {
			fprintf(stderr, "sort: not sorted at %zu\n", i);
			return 1;
		}
		/* Depends on the order, as a plain sum would not. */
		sum = sum * 31 + sorted[i];
	}
	printf("%08x\n", (unsigned)sum);
	return 0;
}
