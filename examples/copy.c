// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long memcpy(3) takes, by size.
 *
 *	build/examples/copy --list
 *	build/examples/copy 'copy/4*'
 *
 * The call is the C library's own: -fno-builtin-memcpy in examples/meson.build keeps the compiler
 * from copying small sizes itself. One function serves all sizes; qs_benchmark.argument has the
 * size, and setup() makes the memory before anything is timed.
 */
#include <errno.h>
#include <quiesce/benchmark.h>
#include <stdlib.h>
#include <string.h>

static int make_buffers(const struct qs_benchmark *benchmark, void **ret_state)
{
	size_t size = benchmark->argument;
	/* The source, then the target. */
	char *buffers = malloc(2 * size);

	if (!buffers)
		return -ENOMEM;
	/* Written to, so that no page of it is missing while it is copied. */
	memset(buffers, 1, 2 * size);
	*ret_state = buffers;
	return 0;
}

static void copy(struct qs_run *run)
{
	size_t size = run->benchmark->argument;
	const char *from = run->state;
	char *to = (char *)run->state + size;
	uint64_t began = qs_begin(run->sampler);

	for (uint64_t i = 0; i < run->loops; i++) {
		memcpy(to, from, size);
		qs_keep_memory(to);
	}
	qs_end(run->sampler, began);
}

#define COPY(size)                                                                           \
	{                                                                                    \
		.name = "copy/" #size, .run = copy, .argument = size, .setup = make_buffers, \
		.teardown = free,                                                            \
	}

static const struct qs_benchmark benchmarks[] = {
	COPY(16),
	COPY(64),
	COPY(256),
	COPY(4096),
	COPY(65536),
	COPY(1048576),
	{ 0 },
};

int main(int argc, char *argv[])
{
	return qs_main(argc, argv, benchmarks);
}
