// SPDX-License-Identifier: GPL-2.0-or-later
/* The bodies of bench/sampler, measured by libquiesce. */
#include <quiesce/benchmark.h>

#include "bench/bodies.h"

static void empty(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	qs_repeat (run->loops)
		body_empty();
	qs_end(run->sampler, began);
}

static void chain(struct qs_run *run)
{
	uint64_t x = 1, began = qs_begin(run->sampler);

	qs_repeat (run->loops)
		x = body_chain(x);
	qs_keep(x);
	qs_end(run->sampler, began);
}

static const struct qs_benchmark benchmarks[] = {
	{ .name = "empty", .run = empty },
	{ .name = "chain", .run = chain },
	{ 0 },
};

int main(int argc, char *argv[])
{
	return qs_main(argc, argv, benchmarks);
}
