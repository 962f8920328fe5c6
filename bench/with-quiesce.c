// SPDX-License-Identifier: GPL-2.0-or-later
/* The bodies of bench/sampler, measured by libquiesce. */
#include <quiesce/benchmark.h>

#include "bench/bodies.h"

#define DEFINE(name)                                            \
	static void run_##name(struct qs_run *run)              \
	{                                                       \
		uint64_t x = 1, began = qs_begin(run->sampler); \
                                                                \
		qs_repeat (run->loops)                          \
			x = body_##name(x);                     \
		qs_keep(x);                                     \
		qs_end(run->sampler, began);                    \
	}
BODIES(DEFINE)

#define ENTRY(body) { .name = #body, .run = run_##body },
static const struct qs_benchmark benchmarks[] = { BODIES(ENTRY){ 0 } };

int main(int argc, char *argv[])
{
	bodies_prepare();
	return qs_main(argc, argv, benchmarks);
}
