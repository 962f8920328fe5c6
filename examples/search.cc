// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searching sorted numbers, in C++: one after the other, and by halves.
 *
 *	build/examples/search
 *	build/examples/search --list
 *
 * A fixture has the numbers, .range() the sizes, and .complexity() has the report say that the one
 * grows with n and the other with log n.
 */
#include <algorithm>
#include <cstdint>
#include <vector>

#include <quiesce/benchmark.hpp>

namespace
{

struct numbers : quiesce::fixture {
	std::vector<std::uint32_t> sorted;
	/* The next to be looked for: in no order, or the branches could be foreseen. */
	std::uint32_t next = 1;

	void set_up(const quiesce::arguments &arguments) override
	{
		for (std::int64_t i = 0; i < arguments[0]; i++)
			sorted.push_back(static_cast<std::uint32_t>(2 * i));
	}
};

QS_BENCHMARK_DEFINE_F(numbers, in_order)(quiesce::state &state)
{
	const std::uint32_t *first = sorted.data(), *last = first + sorted.size();
	std::uint32_t wanted = next, mask = static_cast<std::uint32_t>(2 * sorted.size() - 1);

	for (auto _ : state) {
		wanted = wanted * 1664525U + 1013904223U;
		qs_keep(std::find(first, last, wanted >> 8 & mask));
	}
	next = wanted;
	state.items(1);
}
QS_BENCHMARK_REGISTER_F(numbers, in_order).name("in_order").range(8, 4096).complexity();

QS_BENCHMARK_DEFINE_F(numbers, by_halves)(quiesce::state &state)
{
	const std::uint32_t *first = sorted.data(), *last = first + sorted.size();
	std::uint32_t wanted = next, mask = static_cast<std::uint32_t>(2 * sorted.size() - 1);

	for (auto _ : state) {
		wanted = wanted * 1664525U + 1013904223U;
		qs_keep(std::lower_bound(first, last, wanted >> 8 & mask));
	}
	next = wanted;
	state.items(1);
}
QS_BENCHMARK_REGISTER_F(numbers, by_halves).name("by_halves").range(8, 4096).complexity();

} // namespace

QS_MAIN()
