// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled as strict C11, as it is: the headers need no extension of the C library's. */
#include <quiesce/benchmark.h>

int use_headers(int argc, char *argv[]);

static void use(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);
	_Bool truth = 1;
	double real = 1;
	unsigned number = 1;

	qs_repeat (run->loops) {
		qs_hide(number);
		qs_keep(truth);
		qs_keep(real);
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
