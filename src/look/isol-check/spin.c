// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/schedstat.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "look/isol-check/spin.h"

#define SPIN_CLOCK CLOCK_MONOTONIC_RAW

enum {
	LOOK_EVERY_NS = 10 * 1000 * 1000,
	LOOK_NS = 50 * 1000,
	LOOKS_MAX = 10000,
};

struct spinner {
	struct spin *spin;
	struct spin_result result;
	struct core core;
	size_t looks_room; /* 0 where the core cannot be looked at */
	int64_t look_every;
	pthread_t thread;
	bool started;
	atomic_int state; /* 0: starting, 1: ready, a negative errno: failed */
};

struct spin {
	struct spinner *spinners;
	unsigned n;
	int64_t ns;
	atomic_bool go;
	atomic_bool stop;
};

/* Measures the step with the same loop as read_until(). */
static void calibrate(struct gaps *gaps)
{
	int64_t differences[GAPS_CALIBRATION];
	int64_t last = clock_now_ns(SPIN_CLOCK);

	for (size_t i = 0; i < GAPS_CALIBRATION; i++) {
		int64_t now = clock_now_ns(SPIN_CLOCK);

		gaps_read(gaps, last, last);
		differences[i] = now - last;
		last = now;
	}
	gaps_calibrate(gaps, differences);
}

static void look_at_core(struct spinner *spinner)
{
	struct spin_result *result = &spinner->result;
	struct core_reading reading;

	if (result->n_looks == spinner->looks_room)
		return;
	core_read(&spinner->core, LOOK_NS, &reading);
	if (reading.adds > 0)
		result->looks[result->n_looks++] = reading;
}

static void read_until(struct spinner *spinner)
{
	const atomic_bool *stop = &spinner->spin->stop;
	struct gaps *gaps = spinner->result.gaps;
	int64_t last, end, look;
	uint64_t n = 0;

	last = clock_now_ns(SPIN_CLOCK);
	gaps->began = last;
	end = last + spinner->spin->ns;
	look = spinner->looks_room > 0 ? last + spinner->look_every : INT64_MAX;
	while (last < end && !atomic_load_explicit(stop, memory_order_relaxed)) {
		int64_t now = clock_now_ns(SPIN_CLOCK);

		gaps_read(gaps, last, now);
		last = now;
		n++;
		if (now < look)
			continue;
		look_at_core(spinner);
		look = now + spinner->look_every;
		last = clock_now_ns(SPIN_CLOCK);
	}
	gaps->ended = last;
	gaps->n_readings = n;
}

/* How long this thread was ready to run and did not; negative if unknown. */
static int64_t read_waited(void)
{
	char text[128];
	struct schedstat schedstat;

	if (file_read_attr(AT_FDCWD, "/proc/thread-self/schedstat", text, sizeof(text)) < 0 ||
		schedstat_parse(text, &schedstat) < 0)
		return -1;
	return schedstat.waited_ns;
}

static void measure(struct spinner *spinner)
{
	struct spin_result *result = &spinner->result;
	struct rusage before, after;
	int64_t waited;

	/* Call them once before the measurement, so that their code and data are in memory. */
	getrusage(RUSAGE_THREAD, &after);
	(void)read_waited();
	atomic_store(&spinner->state, 1);
	while (!atomic_load_explicit(&spinner->spin->go, memory_order_acquire) &&
		!atomic_load_explicit(&spinner->spin->stop, memory_order_relaxed))
		;
	waited = read_waited();
	getrusage(RUSAGE_THREAD, &before);
	read_until(spinner);
	getrusage(RUSAGE_THREAD, &after);
	result->waited_ns = waited < 0 ? -1 : read_waited() - waited;
	result->preempted = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	result->moved = sched_getcpu() != result->cpu;
}

static int bind_to(int cpu)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	int r;

	r = cpumask_new(&mask);
	if (r == 0)
		r = cpumask_set(mask, cpu);
	return r < 0 ? r : cpumask_bind_self(mask);
}

static void *run_spinner(void *data)
{
	struct spinner *spinner = data;
	int r;

	r = bind_to(spinner->result.cpu);
	if (r < 0) {
		atomic_store(&spinner->state, r);
		return NULL;
	}
	calibrate(spinner->result.gaps);
	if (core_open(&spinner->core) < 0)
		spinner->looks_room = 0;
	measure(spinner);
	return NULL;
}

/* Sleeps until the threads are ready, because they may need the CPU of this thread. */
static int wait_ready(const struct spin *spin, int *ret_cpu)
{
	for (unsigned i = 0; i < spin->n; i++) {
		const struct spinner *spinner = &spin->spinners[i];
		int state;

		while ((state = atomic_load(&spinner->state)) == 0) {
			struct timespec moment = { .tv_nsec = NSEC_PER_MSEC };

			nanosleep(&moment, NULL);
		}
		if (state < 0) {
			*ret_cpu = spinner->result.cpu;
			return state;
		}
	}
	return 0;
}

int spin_new(const struct cpumask *cpus, int64_t ns, struct spin **ret, int *ret_cpu)
{
	_cleanup_(spin) struct spin *spin = xptr(calloc(1, sizeof(*spin)));
	int r;

	spin->ns = ns;
	spin->spinners = xptr(calloc(cpumask_weight(cpus), sizeof(*spin->spinners)));
	/* All memory before the first thread: mapping memory later would interrupt spinning
	 * threads. */
	cpumask_for_each (cpu, cpus) {
		struct spinner *spinner = &spin->spinners[spin->n++];

		spinner->result.gaps = gaps_new();
		/* In a long measurement the looks are further apart. */
		spinner->look_every = MAX(ns / LOOKS_MAX, (int64_t)LOOK_EVERY_NS);
		spinner->looks_room = (size_t)(ns / spinner->look_every) + 1;
		spinner->result.looks =
			xptr(calloc(spinner->looks_room, sizeof(*spinner->result.looks)));
		spinner->spin = spin;
		spinner->result.cpu = cpu;
	}
	for (unsigned i = 0; i < spin->n; i++) {
		struct spinner *spinner = &spin->spinners[i];

		r = pthread_create(&spinner->thread, NULL, run_spinner, spinner);
		if (r != 0) {
			*ret_cpu = spinner->result.cpu;
			return -r;
		}
		spinner->started = true;
	}
	r = wait_ready(spin, ret_cpu);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(spin);
	return 0;
}

void spin_go(struct spin *spin)
{
	atomic_store_explicit(&spin->go, true, memory_order_release);
}

void spin_stop(struct spin *spin)
{
	atomic_store_explicit(&spin->stop, true, memory_order_relaxed);
}

void spin_join(struct spin *spin)
{
	for (unsigned i = 0; i < spin->n; i++) {
		if (spin->spinners[i].started)
			pthread_join(spin->spinners[i].thread, NULL);
		spin->spinners[i].started = false;
	}
}

unsigned spin_count(const struct spin *spin)
{
	return spin->n;
}

void spin_take(struct spin *spin, unsigned index, struct spin_result *ret)
{
	*ret = spin->spinners[index].result;
	spin->spinners[index].result.gaps = NULL;
	spin->spinners[index].result.looks = NULL;
}

void spin_free(struct spin *spin)
{
	if (!spin)
		return;
	spin_stop(spin);
	spin_join(spin);
	for (unsigned i = 0; i < spin->n; i++) {
		gaps_free(spin->spinners[i].result.gaps);
		free(spin->spinners[i].result.looks);
	}
	free(spin->spinners);
	free(spin);
}
