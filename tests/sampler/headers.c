// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compiled as strict C11, as it is: the headers need no extension of the C library's, and bring no
 * warning into the program. As a program it is a test of the clock, with the result as its status.
 */
#include <quiesce/benchmark.h>

int use_headers(int argc, char *argv[]);

enum kind {
	SOME,
	OTHER,
};

static void use(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);
	_Bool truth = 1;
	char letter = 'a';
	signed char small = -1;
	unsigned char byte = 1;
	short little = -1;
	unsigned short port = 1;
	int integer = -1;
	unsigned number = 1;
	long more = -1;
	unsigned long size = 1;
	long long most = -1;
	unsigned long long all = 1;
	float single = 1;
	double real = 1;
	enum kind kind = OTHER;

	qs_repeat (run->loops) {
		qs_repeat (4U)
			qs_hide(number);
		qs_keep(truth);
		qs_keep(letter);
		qs_keep(small);
		qs_keep(byte);
		qs_keep(little);
		qs_keep(port);
		qs_keep(integer);
		qs_keep(number);
		qs_keep(more);
		qs_keep(size);
		qs_keep(most);
		qs_keep(all);
		qs_keep(single);
		qs_keep(real);
		qs_keep(kind);
		qs_keep(&number);
		qs_keep_memory(&number);
	}
	qs_end(run->sampler, began);
}

int use_headers(int argc, char *argv[])
{
	static const struct qs_benchmark benchmarks[] = {
		{ .name = "use", .run = use },
		{ 0 },
	};

	return qs_main(argc, argv, benchmarks);
}

/* Two stamps in ticks of a nanosecond or less, one after the other, are less than 100 s apart. Of a
 * clock whose time has another size than was declared, they are anything. */
int main(void)
{
	const struct qs_options options = { .samples = 1 };
	struct qs_sampler *sampler;
	uint64_t began, ended;

	if (qs_open(&options, &sampler) < 0)
		return 1;
	began = qs_stamp_begin(sampler);
	ended = qs_stamp_begin(sampler);
	qs_close(sampler);
	return ended >= began && ended - began < 100000000000 ? 0 : 1;
}
