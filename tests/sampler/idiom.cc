// SPDX-License-Identifier: GPL-2.0-or-later
/* What <quiesce/benchmark.hpp> has; for test_main.py. */
#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <quiesce/benchmark.hpp>

namespace
{

void plain(quiesce::state &state)
{
	for (auto _ : state)
		qs_barrier();
}
QS_BENCHMARK(plain);

void unrolled(quiesce::state &state)
{
	std::uint64_t loops = 0;

	state.repeat([&] {
		loops++;
		qs_hide(loops);
	});
	if (loops != state.loops())
		throw std::logic_error("too few calls");
}
QS_BENCHMARK(unrolled).inner_loops(2).name("repeat");

/* Each loop needs unsorted numbers, which are not what is measured. */
void sorting(quiesce::state &state)
{
	std::vector<int> numbers(static_cast<std::size_t>(state.argument()));

	for (std::uint64_t i = 0; i < state.loops(); i++) {
		std::iota(numbers.rbegin(), numbers.rend(), 0);
		state.measure([&] {
			std::sort(numbers.begin(), numbers.end());
			qs_keep(numbers);
		});
	}
	state.items(static_cast<double>(numbers.size()));
	state.bytes(static_cast<double>(numbers.size() * sizeof(int)));
	state.amount("swaps", 0.5);
	state.figure("first", numbers.front());
	state.figure("last", numbers.back());
}
QS_BENCHMARK(sorting).range_multiplier(4).range(8, 128).complexity();

template <typename A, typename B> void converts(quiesce::state &state)
{
	A from = 1;

	for (auto _ : state) {
		qs_hide(from);
		qs_keep(static_cast<B>(from));
	}
}
QS_BENCHMARK(converts<int, double>);

void product(quiesce::state &state)
{
	for (auto _ : state)
		qs_keep(state.argument(0) * state.argument(1));
}
QS_BENCHMARK(product).args_product({ { 1, 2 }, { 5, 6 } }).args({ 7, 8 }).complexity();
QS_BENCHMARK(product).name("ranges").ranges({ { 0, 9 }, { 3, 3 } });
QS_BENCHMARK(product).name("dense").args({ 1, 1 });

void dense(quiesce::state &state)
{
	for (auto _ : state)
		qs_keep(state.argument());
}
QS_BENCHMARK(dense).dense_range(0, 10, 5).arg(99);

void captured(quiesce::state &state, int number, const std::string &text)
{
	for (auto _ : state)
		qs_keep(text);
	state.figure("number", number);
}
QS_BENCHMARK_CAPTURE(captured, one, 1, "one");

std::atomic<int> at_work(0);

void threads(quiesce::state &state)
{
	at_work++;
	for (auto _ : state)
		qs_barrier();
	/* The common start: all have come before any has begun. */
	if (at_work < static_cast<int>(state.threads()))
		throw std::logic_error("began alone");
	state.figure("thread", state.thread());
}
QS_BENCHMARK(threads).threads(3);
QS_BENCHMARK(plain).name("thread_range").thread_range(1, 5);

struct table : quiesce::fixture {
	std::vector<std::int64_t> numbers;

	void set_up(const quiesce::arguments &arguments) override
	{
		if (!arguments.empty() && arguments[0] < 0)
			throw std::out_of_range("no such table");
		numbers.assign(arguments.empty() ? 1 : static_cast<std::size_t>(arguments[0]), 7);
	}
	void tear_down() override
	{
		numbers.clear();
	}
};

QS_BENCHMARK_F(table, size)(quiesce::state &state)
{
	for (auto _ : state)
		qs_keep(numbers);
	state.figure("size", static_cast<double>(numbers.size()));
}

QS_BENCHMARK_DEFINE_F(table, sum)(quiesce::state &state)
{
	std::int64_t sum = 0;

	for (auto _ : state) {
		sum = std::accumulate(numbers.begin(), numbers.end(), std::int64_t(0));
		qs_keep(sum);
	}
	state.figure("sum", static_cast<double>(sum));
}
QS_BENCHMARK_REGISTER_F(table, sum).arg(10).arg(20);
QS_BENCHMARK_REGISTER_F(table, sum).name("bad/fixture").arg(-1);

void thrower(quiesce::state &state)
{
	for (auto _ : state)
		throw std::runtime_error("thrown on purpose");
}
QS_BENCHMARK(thrower).name("bad/throws");

void no_such_argument(quiesce::state &state)
{
	for (auto _ : state)
		qs_keep(state.argument());
}
QS_BENCHMARK(no_such_argument).name("bad/argument");

} // namespace

int main(int argc, char *argv[])
{
	quiesce::add("lambda", [](quiesce::state &state) {
		for (auto _ : state)
			qs_barrier();
	});
	return quiesce::main(argc, argv);
}
