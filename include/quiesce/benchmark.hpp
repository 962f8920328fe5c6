/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Benchmarks in C++, registered where they are written. Header only, on top of
 * <quiesce/benchmark.h>, which has the reference of what is measured and how.
 *
 *	static void copy(quiesce::state &state)
 *	{
 *		auto size = static_cast<std::size_t>(state.argument());
 *		std::string from(size, 'x'), to(from);
 *
 *		for (auto _ : state) {
 *			std::memcpy(&to[0], from.data(), size);
 *			qs_keep(to);
 *		}
 *		state.bytes(static_cast<double>(size));
 *	}
 *	QS_BENCHMARK(copy).range(8, 8 << 10).complexity();
 *
 *	QS_MAIN()
 *
 * C++11 or later; gcc or clang.
 */
#ifndef QUIESCE_BENCHMARK_HPP
#define QUIESCE_BENCHMARK_HPP

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "benchmark.h"

namespace quiesce
{

using arguments = std::vector<std::int64_t>;

/* One call of a benchmark's function, in one of its threads. */
class state
{
      public:
	state(struct qs_run *run, const arguments &given) : run_(run), arguments_(given)
	{
	}
	state(const state &) = delete;
	state &operator=(const state &) = delete;

	/* What `for (auto _ : state)` runs on. It begins the timed region before the first loop,
	 * together with the benchmark's other threads, and ends it after the last: nothing is
	 * measured when the loop is left before. */
	class iterator
	{
	      public:
		struct __attribute__((unused)) nothing {
		};

		iterator(struct qs_sampler *sampler, std::uint64_t left, std::uint64_t began)
		    : sampler_(sampler), left_(left), began_(began)
		{
		}
		bool operator!=(const iterator &) const
		{
			if (__builtin_expect(left_ != 0, 1))
				return true;
			qs_end(sampler_, began_);
			return false;
		}
		iterator &operator++()
		{
			left_--;
			return *this;
		}
		nothing operator*() const
		{
			return nothing();
		}

	      private:
		struct qs_sampler *sampler_;
		std::uint64_t left_;
		std::uint64_t began_; /* no member of state, so that it needs no memory */
	};

	iterator begin()
	{
		struct qs_sampler *sampler = run_->sampler;
		std::uint64_t left = run_->loops;

		qs_start_together(run_);
		return iterator(sampler, left, qs_begin(sampler));
	}
	iterator end()
	{
		return iterator(nullptr, 0, 0);
	}

	/* Calls `work` once for each loop, unrolled by 8 (see qs_repeat): for work of some
	 * nanoseconds. */
	template <typename Work> void repeat(Work &&work)
	{
		struct qs_sampler *sampler = run_->sampler;
		std::uint64_t loops = run_->loops, began;

		qs_start_together(run_);
		began = qs_begin(sampler);
		qs_repeat (loops)
			work();
		qs_end(sampler, began);
	}

	/* Calls `work` once in a timed region of its own, which adds up with the others: for loops
	 * over loops() of which only a part is to be measured. Each has the time of an empty region
	 * in it. */
	template <typename Work> void measure(Work &&work)
	{
		std::uint64_t began = qs_begin(run_->sampler);

		work();
		qs_end(run_->sampler, began);
	}

	std::uint64_t loops() const
	{
		return run_->loops;
	}
	/* Of those that were given at the registration. */
	std::int64_t argument(std::size_t index = 0) const
	{
		return arguments_.at(index);
	}
	std::uint32_t thread() const
	{
		return run_->thread;
	}
	std::uint32_t threads() const
	{
		return run_->threads;
	}

	/* How much there is in one unit of work: it is reported per second. */
	void bytes(double amount)
	{
		set("bytes", QS_FIGURE_AMOUNT, amount);
	}
	void items(double amount)
	{
		set("items", QS_FIGURE_AMOUNT, amount);
	}
	void amount(const std::string &name, double amount)
	{
		set(name, QS_FIGURE_AMOUNT, amount);
	}
	/* Any other figure: the result has the mean over all calls that count. */
	void figure(const std::string &name, double value)
	{
		set(name, QS_FIGURE_PLAIN, value);
	}

	/* For what the C functions can do besides. */
	struct qs_run *run() const
	{
		return run_;
	}

      private:
	void set(const std::string &name, enum qs_figure_kind kind, double value)
	{
		int r = qs_set_figure(run_, name.c_str(), kind, value);

		if (r == -E2BIG)
			throw std::length_error("too many figures: " + name);
		if (r < 0)
			throw std::invalid_argument("no valid figure: " + name);
	}

	struct qs_run *run_;
	const arguments &arguments_;
};

/* What a benchmark needs around it: made and set up before the first call in a process, taken down
 * after the last, and shared by the benchmark's threads. */
class fixture
{
      public:
	fixture() = default;
	fixture(const fixture &) = delete;
	fixture &operator=(const fixture &) = delete;
	virtual ~fixture() = default;
	virtual void set_up(const arguments &)
	{
	}
	virtual void tear_down()
	{
	}
};

/* A registered benchmark. Each list of arguments makes a benchmark, for each number of threads. */
class benchmark
{
      public:
	using function = std::function<void(state &, fixture *)>;
	using maker = std::function<std::unique_ptr<fixture>()>;

	benchmark(std::string name, function work, maker make)
	    : name_(std::move(name)), work_(std::move(work)), make_(std::move(make))
	{
	}

	/* Another name than that of the function. */
	benchmark &name(const std::string &text)
	{
		name_ = text;
		return *this;
	}
	benchmark &arg(std::int64_t argument)
	{
		return args({ argument });
	}
	benchmark &args(const arguments &list)
	{
		lists_.push_back(list);
		return *this;
	}
	/* Every combination. */
	benchmark &args_product(const std::vector<arguments> &choices)
	{
		std::vector<arguments> lists(1);

		for (const arguments &choice : choices) {
			std::vector<arguments> longer;

			for (const arguments &list : lists) {
				for (std::int64_t argument : choice) {
					longer.push_back(list);
					longer.back().push_back(argument);
				}
			}
			lists.swap(longer);
		}
		lists_.insert(lists_.end(), lists.begin(), lists.end());
		return *this;
	}
	/* `first`, the powers of the multiplier in between, and `last`. */
	benchmark &range(std::int64_t first, std::int64_t last)
	{
		return ranges({ { first, last } });
	}
	benchmark &ranges(const std::vector<std::pair<std::int64_t, std::int64_t>> &list)
	{
		std::vector<arguments> choices;

		for (const auto &ends : list)
			choices.push_back(powers(ends.first, ends.second, multiplier_));
		return args_product(choices);
	}
	/* For ranges that follow; 8 by itself. */
	benchmark &range_multiplier(std::int64_t multiplier)
	{
		if (multiplier < 2)
			throw std::invalid_argument(name_ + ": a multiplier below 2");
		multiplier_ = multiplier;
		return *this;
	}
	benchmark &dense_range(std::int64_t first, std::int64_t last, std::int64_t step = 1)
	{
		if (step < 1)
			throw std::invalid_argument(name_ + ": a step below 1");
		for (std::int64_t argument = first; argument <= last; argument += step)
			arg(argument);
		return *this;
	}
	/* In this many threads at once; see qs_benchmark.threads. May be said several times. */
	benchmark &threads(std::uint32_t number)
	{
		threads_.push_back(number);
		return *this;
	}
	/* `first`, the powers of 2 in between, and `last`. */
	benchmark &thread_range(std::uint32_t first, std::uint32_t last)
	{
		for (std::int64_t number : powers(first, last, 2))
			threads(static_cast<std::uint32_t>(number));
		return *this;
	}
	/* How often one loop does the work in itself. */
	benchmark &inner_loops(std::uint32_t number)
	{
		inner_loops_ = number;
		return *this;
	}
	/* Has the report say how the time grows with the first argument. */
	benchmark &complexity()
	{
		grows_ = true;
		return *this;
	}

      private:
	friend int main(int argc, char *argv[]);

	/* One combination of arguments and threads. */
	struct instance {
		const benchmark *of;
		arguments given;
		std::string name;
		std::string family;
	};

	static arguments powers(std::int64_t first, std::int64_t last, std::int64_t multiplier)
	{
		arguments list(1, first);

		if (first < 0 || last < first)
			throw std::invalid_argument("a range is from 0 or more up to a larger one");
		for (std::int64_t power = 1; power < last; power *= multiplier) {
			if (power > first)
				list.push_back(power);
			if (power > last / multiplier)
				break;
		}
		if (last > first)
			list.push_back(last);
		return list;
	}

	static const instance &instance_of(const struct qs_benchmark *entry)
	{
		return *reinterpret_cast<const instance *>(entry->argument);
	}

	/* Tells what was thrown, which is not to pass through functions in C. */
	static void tell(const std::string &name)
	{
		try {
			throw;
		} catch (const std::exception &error) {
			std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
		} catch (...) {
			std::fprintf(stderr, "%s: an exception\n", name.c_str());
		}
	}

	static void call(struct qs_run *run)
	{
		const instance &one = instance_of(run->benchmark);

		try {
			state now(run, one.given);

			one.of->work_(now, static_cast<fixture *>(run->state));
		} catch (...) {
			tell(one.name);
			std::_Exit(EXIT_FAILURE);
		}
	}

	static int set_up(const struct qs_benchmark *entry, void **ret_state)
	{
		const instance &one = instance_of(entry);

		try {
			std::unique_ptr<fixture> made = one.of->make_();

			made->set_up(one.given);
			*ret_state = made.release();
		} catch (const std::bad_alloc &) {
			return -ENOMEM;
		} catch (...) {
			tell(one.name);
			return -ECANCELED;
		}
		return 0;
	}

	static void tear_down(void *state)
	{
		std::unique_ptr<fixture> made(static_cast<fixture *>(state));

		try {
			made->tear_down();
		} catch (...) {
			tell("tear_down");
			std::_Exit(EXIT_FAILURE);
		}
	}

	void add_instances(std::vector<std::unique_ptr<instance>> &instances,
		std::vector<struct qs_benchmark> &list) const
	{
		const std::vector<arguments> once(1);
		const std::vector<std::uint32_t> alone(1, 1);

		for (const arguments &given : lists_.empty() ? once : lists_)
			for (std::uint32_t threads : threads_.empty() ? alone : threads_)
				add_instance(given, threads, instances, list);
	}

	void add_instance(const arguments &given, std::uint32_t threads,
		std::vector<std::unique_ptr<instance>> &instances,
		std::vector<struct qs_benchmark> &list) const
	{
		std::unique_ptr<instance> one(new instance{ this, given, name_, name_ });
		struct qs_benchmark entry = {};

		for (std::size_t i = 0; i < given.size(); i++) {
			one->name += '/' + std::to_string(given[i]);
			/* What differs besides the size makes another family. */
			one->family += i == 0 && given.size() > 1 ? "/n"
				: i == 0			  ? ""
								  : '/' + std::to_string(given[i]);
		}
		if (!threads_.empty()) {
			one->name += "/threads:" + std::to_string(threads);
			one->family += "/threads:" + std::to_string(threads);
		}
		entry.name = one->name.c_str();
		entry.run = call;
		entry.argument = reinterpret_cast<std::uintptr_t>(one.get());
		entry.inner_loops = inner_loops_;
		if (make_) {
			entry.setup = set_up;
			entry.teardown = tear_down;
		}
		entry.threads = threads;
		if (grows_ && !given.empty() && given[0] > 0) {
			entry.family = one->family.c_str();
			entry.size = static_cast<double>(given[0]);
		}
		list.push_back(entry);
		instances.push_back(std::move(one));
	}

	std::string name_;
	function work_;
	maker make_; /* empty: no fixture */
	std::vector<arguments> lists_;
	std::vector<std::uint32_t> threads_;
	std::int64_t multiplier_ = 8;
	std::uint32_t inner_loops_ = 1;
	bool grows_ = false;
};

/* All that were registered, in their order. */
inline std::vector<std::unique_ptr<benchmark>> &registry()
{
	static std::vector<std::unique_ptr<benchmark>> all;

	return all;
}

inline benchmark &add(const std::string &name, benchmark::function work, benchmark::maker make)
{
	registry().emplace_back(new benchmark(name, std::move(work), std::move(make)));
	return *registry().back();
}

/* Registers a function, or a lambda, before main() is called or in it. */
inline benchmark &add(const std::string &name, std::function<void(state &)> work)
{
	return add(
		name, [work](state &now, fixture *) { work(now); }, nullptr);
}

/* Registers a class that is derived from a fixture and has a function qs_case(). */
template <typename Case> benchmark &add_case(const std::string &name)
{
	return add(
		name, [](state &now, fixture *made) { static_cast<Case *>(made)->qs_case(now); },
		[] { return std::unique_ptr<fixture>(new Case()); });
}

/* qs_main() with all benchmarks that were registered. */
inline int main(int argc, char *argv[])
{
	std::vector<std::unique_ptr<benchmark::instance>> instances;
	std::vector<struct qs_benchmark> list;

	for (const std::unique_ptr<benchmark> &each : registry())
		each->add_instances(instances, list);
	list.push_back({});
	return qs_main(argc, argv, list.data());
}

} // namespace quiesce

#define QS_REGISTERED \
	static ::quiesce::benchmark &QS_JOIN(qs_registered_, __COUNTER__) __attribute__((unused))

/* QS_BENCHMARK(function), also QS_BENCHMARK(function<int, long>): options of quiesce::benchmark may
 * follow. */
#define QS_BENCHMARK(...) QS_REGISTERED = ::quiesce::add(#__VA_ARGS__, __VA_ARGS__)
/* A function with more parameters than quiesce::state &, and what they are in this case. */
#define QS_BENCHMARK_CAPTURE(function, case_name, ...)           \
	QS_REGISTERED = ::quiesce::add(#function "/" #case_name, \
		[](::quiesce::state &qs_state) { function(qs_state, __VA_ARGS__); })

/* QS_BENCHMARK_DEFINE_F(class, name)(quiesce::state &state) { ... }: a function that has the
 * members of the fixture. QS_BENCHMARK_REGISTER_F(class, name) registers it: options may follow. */
#define QS_BENCHMARK_DEFINE_F(fixture_class, case_name)             \
	struct fixture_class##_##case_name : public fixture_class { \
		void qs_case(::quiesce::state &);                   \
	};                                                          \
	inline void fixture_class##_##case_name::qs_case
#define QS_BENCHMARK_REGISTER_F(fixture_class, case_name) \
	QS_REGISTERED =                                   \
		::quiesce::add_case<fixture_class##_##case_name>(#fixture_class "/" #case_name)
/* Both, without options. */
#define QS_BENCHMARK_F(fixture_class, case_name)                    \
	struct fixture_class##_##case_name : public fixture_class { \
		void qs_case(::quiesce::state &);                   \
	};                                                          \
	QS_BENCHMARK_REGISTER_F(fixture_class, case_name);          \
	inline void fixture_class##_##case_name::qs_case

#define QS_MAIN()                                   \
	int main(int argc, char *argv[])            \
	{                                           \
		return ::quiesce::main(argc, argv); \
	}

#endif
