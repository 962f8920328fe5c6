// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a branch costs that cannot be foreseen: the same loop over the same numbers, once sorted and
 * once not.
 *
 *	build/examples/branches
 *	build/examples/branches --counters=branch-misses,instructions
 *
 * The work is the same to the last instruction; what differs is how often the CPU guesses wrong.
 */
#include <errno.h>
#include <quiesce/benchmark.h>
#include <stdlib.h>

enum {
	NUMBERS = 32768, /* more than a branch predictor learns by heart */
};

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int make_numbers(const struct qs_benchmark *benchmark, void **ret_state)
{
	uint32_t *numbers = malloc(NUMBERS * sizeof(*numbers)), x = 2463534242;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < NUMBERS; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		numbers[i] = x;
	}
	if (benchmark->argument)
		qsort(numbers, NUMBERS, sizeof(*numbers), compare);
	*ret_state = numbers;
	return 0;
}

static void branch(struct qs_run *run)
{
	const uint32_t *numbers = run->state;
	uint64_t loops = run->loops, sum = 0, began = qs_begin(run->sampler);

	for (uint64_t i = 0; i < loops; i++) {
		for (size_t j = 0; j < NUMBERS; j++) {
			if (numbers[j] >= 0x80000000U) {
				sum += numbers[j];
				/* Or the compiler does without a branch. */
				qs_hide(sum);
			}
		}
	}
	qs_keep(sum);
	qs_end(run->sampler, began);
}

static const struct qs_benchmark benchmarks[] = {
	{
		.name = "branches/sorted",
		.run = branch,
		.argument = 1,
		.inner_loops = NUMBERS,
		.setup = make_numbers,
		.teardown = free,
	},
	{
		.name = "branches/unsorted",
		.run = branch,
		.inner_loops = NUMBERS,
		.setup = make_numbers,
		.teardown = free,
	},
	{ 0 },
};

int main(int argc, char *argv[])
{
	return qs_main(argc, argv, benchmarks);
}
