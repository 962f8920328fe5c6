// SPDX-License-Identifier: GPL-2.0-or-later
/* The bodies of bench/sampler, measured by nanobench: with-nanobench BODY prints nanoseconds. */
#define ANKERL_NANOBENCH_IMPLEMENT
#include <cstdio>
#include <cstring>
#include <nanobench.h>

#include "bench/bodies.h"

int main(int argc, char *argv[])
{
	ankerl::nanobench::Bench bench;
	uint64_t x = 1;

	if (argc != 2)
		return 2;
	bodies_prepare();
	bench.output(nullptr);
#define MEASURE(name)                         \
	if (std::strcmp(argv[1], #name) == 0) \
		bench.run(#name, [&] { x = body_##name(x); });
	BODIES(MEASURE)
	ankerl::nanobench::doNotOptimizeAway(x);
	if (bench.results().empty())
		return 2;
	std::printf("%.6f\n",
		bench.results().front().median(ankerl::nanobench::Result::Measure::elapsed) * 1e9);
}
