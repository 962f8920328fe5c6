// SPDX-License-Identifier: GPL-2.0-or-later
/* qs_keep() of what C++ has: a TAP test that every type compiles, and that nothing is left out. */
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <quiesce/benchmark.h>

namespace
{

enum class Color : unsigned char {
	red
};

const char *color_name(Color)
{
	return "red";
}

struct Nothing {
};

/* Has an address of its own making, and cannot be copied. */
struct Odd {
	int value = 1;
	Odd() = default;
	Odd(const Odd &) = delete;
	Odd &operator=(const Odd &) = delete;
	int operator&() const
	{
		return 0;
	}
};

template <typename T> void keep(const T &value)
{
	T *none = nullptr;

	qs_keep(value);
	qs_keep(none);
}

/* What is written to an object that is kept has to be written each time. */
bool writes_are_kept()
{
	int number = 0;
	volatile int seen;

	for (int i = 0; i < 3; i++) {
		std::array<int, 4> numbers = { { i, i, i, i } };

		qs_keep(numbers);
		number += numbers[3];
	}
	seen = number;
	return seen == 3;
}

} // namespace

int main()
{
	Odd odd;
	std::unique_ptr<int> pointer(new int(1));
	std::string text = "text";
	int numbers[3] = { 1, 2, 3 };

	std::puts("1..1");
	keep(true);
	keep('c');
	keep(static_cast<short>(1));
	keep(1);
	keep(1UL);
	keep(1ULL);
	keep(1.0F);
	keep(1.0);
	keep(1.0L);
	keep(Color::red);
	keep(Nothing());
	keep(nullptr);
	keep(text);
	keep(std::vector<int>{ 1, 2 });
	qs_keep(std::string("temporary"));
	qs_keep(text.c_str());
	qs_keep(odd);
	qs_keep(pointer);
	qs_keep(numbers);
	qs_keep(&color_name);
	qs_hide(numbers[0]);
	std::printf("%s 1 - any type can be kept\n",
		text == "text" && *pointer == 1 && writes_are_kept() ? "ok" : "not ok");
	return 0;
}
