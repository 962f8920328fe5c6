/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads of a benchmark. The first is the thread that measures; the others wait between the
 * calls of run(), and each has a sampler of its own.
 */
#ifndef QUIESCE_LIBRARY_CREW_H
#define QUIESCE_LIBRARY_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "library/private.h"
#include "library/ring.h"
#include "quiesce/benchmark.h"

struct crew;

struct seat {
	struct qs_run run; /* the first member: functions for run() find the seat by it */
	struct crew *crew;
	pthread_t thread;
	int delay_fd; /* the thread's schedstat; -1 where there is none */

	/* Of the latest call. */
	struct ring_sum sum;
	double waiting; /* as qs_value.waiting */
	size_t n_figures;
	struct qs_figure figures[QS_MAX_FIGURES];
};

/* Opens samplers like `sampler`, which is for the calling thread, and starts the other threads. A
 * negative errno. */
int crew_open(struct qs_sampler *sampler, const struct qs_benchmark *benchmark, struct crew **ret);
/* NULL is allowed. */
void crew_close(struct crew *crew);
/* Calls run() once in each thread. -EDEADLK where one of them returned while others waited for it
 * in qs_start_together(). */
int crew_call(struct crew *crew, uint64_t loops, void *state);
/* The facts of the first thread's sampler, but the clock or a counter is marked bad if it is bad in
 * any thread. */
void crew_get_facts(struct crew *crew, struct qs_facts *ret);
size_t crew_count(const struct crew *crew);
const struct seat *crew_seat(const struct crew *crew, size_t i);

#endif
