// SPDX-License-Identifier: GPL-2.0-or-later
/* The bodies of bench/sampler, measured by google/benchmark. */
#include <benchmark/benchmark.h>

#include "bench/bodies.h"

#define DEFINE(name)                                    \
	static void run_##name(benchmark::State &state) \
	{                                               \
		uint64_t x = 1;                         \
                                                        \
		for (auto _ : state)                    \
			x = body_##name(x);             \
		benchmark::DoNotOptimize(x);            \
	}                                               \
	BENCHMARK(run_##name)->Name(#name);
BODIES(DEFINE)

int main(int argc, char *argv[])
{
	bodies_prepare();
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
}
