// SPDX-License-Identifier: GPL-2.0-or-later
/* The bodies of bench/sampler, measured by google/benchmark. */
#include <benchmark/benchmark.h>

#include "bench/bodies.h"

static void empty(benchmark::State &state)
{
	for (auto _ : state)
		body_empty();
}
BENCHMARK(empty);

static void chain(benchmark::State &state)
{
	uint64_t x = 1;

	for (auto _ : state)
		x = body_chain(x);
	benchmark::DoNotOptimize(x);
}
BENCHMARK(chain);

BENCHMARK_MAIN();
