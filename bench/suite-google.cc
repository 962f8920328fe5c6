// SPDX-License-Identifier: GPL-2.0-or-later
/* A suite of google/benchmark, as projects have them: containers, what is done with them, and sizes. bench/suite
 * builds it. */
#include <benchmark/benchmark.h>
#include <deque>
#include <list>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

template <class C> static void BM_fill(benchmark::State &state)
{
	for (auto _ : state) {
		C container;

		for (int i = 0; i < state.range(0); i++)
			container.insert(container.end(), i * 7919 % 10007);
		benchmark::DoNotOptimize(container);
	}
}

template <class C> static void BM_walk(benchmark::State &state)
{
	C container;

	for (int i = 0; i < state.range(0); i++)
		container.insert(container.end(), i * 7919 % 10007);
	for (auto _ : state)
		benchmark::DoNotOptimize(std::accumulate(container.begin(), container.end(), 0));
}

static std::vector<std::string> make_words(int64_t n)
{
	std::vector<std::string> words;

	for (int i = 0; i < n; i++)
		words.push_back("word " + std::to_string(i * 7919 % 10007));
	return words;
}

template <class M> static void BM_count_words(benchmark::State &state)
{
	const std::vector<std::string> words = make_words(state.range(0));

	for (auto _ : state) {
		M counts;

		for (const auto &word : words)
			counts[word]++;
		benchmark::DoNotOptimize(counts);
	}
}

template <class M> static void BM_find_words(benchmark::State &state)
{
	const std::vector<std::string> words = make_words(state.range(0));
	M counts;

	for (const auto &word : words)
		counts[word]++;
	for (auto _ : state) {
		int sum = 0;

		for (const auto &word : words)
			sum += counts.find(word)->second;
		benchmark::DoNotOptimize(sum);
	}
}

#define SIZES RangeMultiplier(16)->Range(64, 16384)

BENCHMARK_TEMPLATE(BM_fill, std::vector<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_fill, std::deque<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_fill, std::list<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_fill, std::set<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_fill, std::unordered_set<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_walk, std::vector<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_walk, std::deque<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_walk, std::list<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_walk, std::set<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_walk, std::unordered_set<int>)->SIZES;
BENCHMARK_TEMPLATE(BM_count_words, std::map<std::string, int>)->SIZES;
BENCHMARK_TEMPLATE(BM_count_words, std::unordered_map<std::string, int>)->SIZES;
BENCHMARK_TEMPLATE(BM_find_words, std::map<std::string, int>)->SIZES;
BENCHMARK_TEMPLATE(BM_find_words, std::unordered_map<std::string, int>)->SIZES;
BENCHMARK_MAIN();
