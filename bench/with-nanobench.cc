// SPDX-License-Identifier: GPL-2.0-or-later
/* The bodies of bench/sampler, measured by nanobench: with-nanobench BODY VALUES MILLISECONDS. */
#define ANKERL_NANOBENCH_IMPLEMENT
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nanobench.h>

#include "bench/bodies.h"

int main(int argc, char *argv[])
{
	ankerl::nanobench::Bench bench;
	uint64_t x = 1;

	if (argc != 4)
		return 2;
	bench.output(nullptr)
		.epochs(std::strtoul(argv[2], nullptr, 10))
		.minEpochTime(std::chrono::milliseconds(std::strtoul(argv[3], nullptr, 10)));
	if (std::strcmp(argv[1], "empty") == 0)
		bench.run("empty", [] { body_empty(); });
	else
		bench.run("chain", [&] { x = body_chain(x); });
	ankerl::nanobench::doNotOptimizeAway(x);
	const auto &result = bench.results().front();
	for (size_t i = 0; i < result.size(); i++)
		std::printf("%.6f\n",
			result.get(i, ankerl::nanobench::Result::Measure::elapsed) * 1e9);
}
