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

/* Whether the compiler knows what is in an object: it does, where it optimizes. */
bool is_known()
{
	std::array<int, 4> numbers = { { 1, 2, 3, 4 } };
	int last = numbers[3];

	return __builtin_constant_p(last);
}

/* It does not where the object is kept, which may change it. */
bool is_known_when_kept()
{
	std::array<int, 4> numbers = { { 1, 2, 3, 4 } };
	int last;

	qs_keep(numbers);
	last = numbers[3];
	return __builtin_constant_p(last);
}

} // namespace

int main()
{
	Odd odd;
	std::unique_ptr<int> pointer(new int(1));
	std::string text = "text";
	int numbers[3] = { 1, 2, 3 };

	std::puts("1..2");
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
		text == "text" && *pointer == 1 ? "ok" : "not ok");
	std::printf("%s 2 - what is kept may have changed%s\n",
		is_known_when_kept() ? "not ok" : "ok",
		is_known() ? "" : " # SKIP this compiler does not know what is in an object");
	return 0;
}
