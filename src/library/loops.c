// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "library/core.h"
#include "library/crew.h"
#include "library/loops.h"
#include "library/values.h"
#include "quiesce/benchmark.h"

/*
 * Short, so that most values pass between two turns of other tasks on a busy machine. The table
 * shows by how many per cent the median of 1250 values of a chain of multiplications was wrong in
 * three measurements, with three other tasks on its CPU, on a machine with four other tasks for
 * each CPU:
 *
 *	0.05 ms			0.3 0.5 0.6
 *	0.1 ms			0.2 1.2 1.2
 *	0.2 ms			0.9 1.8 2.5
 *	0.5 ms			2.1 2.7 3.4
 *
 * With five tasks for each CPU, and fewer values, it was 5 to 200 with values of 1 ms, and 160 to
 * 300 with values of 0.1 s. The stamps take less than 0.1 % of such a short value.
 */
static const double default_min_time = 0.00005;
/* Times that differ by less than this may be the same. */
static const double ALIKE = 1.1;
/* In picoseconds: longer than a step of any counter; the ACPI timer has the longest steps, 279 ns.
 * A shorter time may pass between two steps and is then measured as 0. */
static const double LONG_STEP = 1e6;
/* In seconds: a day. */
static const double MAX_WARMUP_TIME = 86400;

enum {
	CORE_MAX_NS = 150 * 1000,
	CORE_PART_OF_VALUE = 20,
};

struct work {
	struct qs_sampler *sampler;
	struct crew *crew;
	void *state; /* from setup() */
	const struct qs_plan *plan;
	uint64_t max_ns; /* UINT64_MAX: no bound */
	struct qs_values *values;
	size_t room;
	struct qs_reading reading; /* the latest, with a collector */
	int can_look;		   /* the core can be looked at */
	struct core core;
	struct core_reading seen; /* the latest */
	size_t n_settled;	  /* values that have their duration in picoseconds */
	size_t figure_calls[QS_MAX_FIGURES];
};

static struct qs_value *append(struct work *work)
{
	struct qs_values *values = work->values;

	if (values->n_values == work->room) {
		size_t room = work->room ? 2 * work->room : 32;
		struct qs_value *more =
			reallocarray(values->values, room, sizeof(values->values[0]));

		if (!more)
			return NULL;
		values->values = more;
		work->room = room;
	}
	return &values->values[values->n_values++];
}

/* Makes the value of the regions of one call of run(). Its duration is in ticks until settle(). */
static int make_value(const struct ring_sum *sum, struct qs_value *value)
{
	if (sum->regions == 0)
		return -ENODATA;
	value->regions = sum->regions;
	memcpy(value->counts, sum->counts, sizeof(value->counts));
	value->cpu_begin = sum->cpu_begin;
	value->cpu_end = sum->cpu_end;
	value->picoseconds = sum->ticks;
	return 0;
}

/* Finds out how long a tick is, and converts ticks of values into picoseconds. Not a part of
 * take_value(), because it makes system calls and may sleep the first time. */
static int settle(struct work *work)
{
	struct qs_values *values = work->values;
	int r = qs_settle(work->sampler);

	if (r < 0)
		return r;
	for (; work->n_settled < values->n_values; work->n_settled++) {
		struct qs_value *value = &values->values[work->n_settled];
		double ps = qs_nanoseconds(work->sampler, value->picoseconds) * 1e3;

		value->picoseconds = ps < 1 ? 1 : (uint64_t)(ps + 0.5);
	}
	return 0;
}

static double at_most(double number, double most)
{
	return number < most ? number : most;
}

/* Adds the figures of a call that counts to the sums. */
static int add_figures(struct work *work, const struct seat *seat)
{
	struct qs_values *values = work->values;

	for (size_t i = 0; i < seat->n_figures; i++) {
		const struct qs_figure *figure = &seat->figures[i];
		size_t at = 0;

		while (at < values->n_figures &&
			strcmp(values->figures[at].name, figure->name) != 0)
			at++;
		if (at == QS_MAX_FIGURES)
			return -E2BIG;
		if (at == values->n_figures) {
			values->figures[values->n_figures++] = *figure;
		} else {
			values->figures[at].kind = figure->kind;
			values->figures[at].value += figure->value;
		}
		work->figure_calls[at]++;
	}
	return 0;
}

static void finish_figures(struct work *work)
{
	for (size_t i = 0; i < work->values->n_figures; i++)
		work->values->figures[i].value /= (double)work->figure_calls[i];
}

static void take_reading(struct work *work, struct qs_value *value)
{
	struct qs_reading before = work->reading;

	if (!work->plan->collector)
		return;
	qs_collector_read(work->plan->collector, &work->reading);
	if (before.interrupts >= 0 && work->reading.interrupts >= before.interrupts)
		value->interrupts = work->reading.interrupts - before.interrupts;
	value->frequency_khz = work->reading.frequency_khz;
	value->temperature_mc = work->reading.temperature_mc;
}

static double mean_of_known(double a, double b)
{
	return a > 0 && b > 0 ? (a + b) / 2 : a > 0 ? a : b;
}

/* Looks at the core before the first value that counts (value is NULL) and after each of them. */
static void look_at_core(struct work *work, uint64_t value_ns, struct qs_value *value)
{
	struct core_reading before = work->seen;
	uint64_t ns = value_ns / CORE_PART_OF_VALUE;

	if (!work->can_look)
		return;
	core_read(&work->core, ns < CORE_MAX_NS ? ns : CORE_MAX_NS, &work->seen);
	if (!value)
		return;
	value->core_adds = mean_of_known(before.adds, work->seen.adds);
	value->core_hertz = mean_of_known(before.hertz, work->seen.hertz);
}

/* Calls run() in all threads: a value of each. */
static int take_value(struct work *work, enum qs_value_kind kind, uint64_t loops)
{
	struct qs_value *first;
	int r;

	r = crew_call(work->crew, loops, work->state);
	if (r < 0)
		return r;
	for (size_t i = 0; i < crew_count(work->crew); i++) {
		const struct seat *seat = crew_seat(work->crew, i);
		struct qs_value *value = append(work);

		if (!value)
			return -ENOMEM;
		*value = (struct qs_value){ .kind = kind,
			.loops = loops,
			.waiting = seat->waiting,
			.interrupts = -1,
			.frequency_khz = -1,
			.temperature_mc = -1 };
		r = make_value(&seat->sum, value);
		if (r == 0 && kind == QS_VALUE_COUNTED)
			r = add_figures(work, seat);
		if (r < 0)
			return r;
	}
	/* Readings of one CPU belong to the value of the thread that runs on it. */
	first = &work->values->values[work->values->n_values - crew_count(work->crew)];
	if (kind == QS_VALUE_COUNTED)
		look_at_core(
			work, (uint64_t)qs_nanoseconds(work->sampler, first->picoseconds), first);
	take_reading(work, first);
	return 0;
}

/* The least of the times of some values, in picoseconds. */
struct took {
	double whole;
	double worked; /* less the waiting for the CPU, a part of which may have been outside */
};

/* Finds out how long this many loops take. Measured twice if it seems long enough, because one
 * value may be long only because of a disturbance. */
static int try_loops(struct work *work, uint64_t loops, double enough, struct took *ret)
{
	struct took took = { 0 };

	for (int i = 0; i < 2; i++) {
		const struct qs_value *value;
		double whole, worked;
		int r = take_value(work, QS_VALUE_CALIBRATION, loops);

		if (r == 0)
			r = settle(work);
		if (r < 0)
			return r;
		value = &work->values->values[work->values->n_values - 1];
		whole = (double)value->picoseconds;
		worked = value->waiting > 0 ? whole * (1 - value->waiting) : whole;
		took.whole = i == 0 ? whole : at_most(whole, took.whole);
		took.worked = i == 0 ? worked : at_most(worked, took.worked);
		if (took.worked < enough || whole >= (double)work->max_ns * 1e3)
			break;
	}
	*ret = took;
	return 0;
}

/* 0, or -ERANGE when these loops take about as long as one loop, and ten times as many take no
 * longer. */
static int check_growth(
	struct work *work, uint64_t loops, const struct took *took, const struct took *one)
{
	size_t n_values = work->values->n_values;
	struct took more;
	int r;

	if (loops == 1 || loops > VALUES_MAX_LOOPS / 10 || took->worked > ALIKE * one->worked)
		return 0;
	r = try_loops(work, 10 * loops, 2 * took->worked, &more);
	/* These values do not belong to the calibration, whose last value tells the number of
	 * loops. */
	work->values->n_values = work->n_settled = n_values;
	return r < 0 ? r : more.whole < 2 * took->worked ? -ERANGE : 0;
}

/* Tries 1, 2, 5, 10, 20, 50 ... loops until a value is long enough. */
static int calibrate_loops(struct work *work, uint64_t *ret)
{
	double enough = (work->plan->min_time > 0 ? work->plan->min_time : default_min_time) * 1e12;
	struct took took, one = { 0 };
	uint64_t loops = 1;
	int r;

	for (unsigned step = 0; loops <= VALUES_MAX_LOOPS; step++) {
		r = try_loops(work, loops, enough, &took);
		if (r < 0)
			return r;
		if (loops == 1)
			one = took;
		if (took.worked >= enough) {
			*ret = loops;
			return check_growth(work, loops, &took, &one);
		}
		/* No work is done in a picosecond. */
		if (took.whole + LONG_STEP < (double)loops)
			break;
		loops = step % 3 == 1 ? loops / 2 * 5 : loops * 2;
	}
	return -ERANGE;
}

static int warm_up(struct work *work, uint64_t loops)
{
	uint64_t enough = (uint64_t)(work->plan->warmup_time * 1e9);
	uint64_t began = clock_read_ns(CLOCK_MONOTONIC);
	int r = 0;

	for (uint32_t i = 0; r == 0 &&
		(i < work->plan->warmups || clock_read_ns(CLOCK_MONOTONIC) - began < enough);
		i++)
		r = take_value(work, QS_VALUE_WARMUP, loops);
	return r;
}

static int take_values(struct work *work)
{
	const struct qs_plan *plan = work->plan;
	uint64_t began = clock_read_ns(CLOCK_MONOTONIC), last = 0, passed = 0;
	uint64_t loops = plan->loops;
	int r = 0;

	if (plan->collector)
		qs_collector_read(plan->collector, &work->reading);
	if (loops == 0)
		r = calibrate_loops(work, &loops);
	work->values->loops = loops;
	if (r == 0)
		r = warm_up(work, loops);
	if (r == 0)
		r = settle(work);
	look_at_core(work, CORE_MAX_NS, NULL);
	for (uint32_t i = 0; r == 0 && i < plan->values; i++) {
		uint64_t before = passed;

		if (i > 0 && (passed >= work->max_ns || last > work->max_ns - passed))
			break;
		r = take_value(work, QS_VALUE_COUNTED, loops);
		passed = clock_read_ns(CLOCK_MONOTONIC) - began;
		last = passed - before;
	}
	finish_figures(work);
	return r < 0 ? r : settle(work);
}

static void copy_facts(struct crew *crew, struct qs_values *values)
{
	crew_get_facts(crew, &values->facts);
	for (size_t i = 0; i < values->facts.n_counters; i++) {
		size_t length = strlen(values->facts.counters[i].name);

		memcpy(values->counter_names[i], values->facts.counters[i].name, length + 1);
		values->facts.counters[i].name = values->counter_names[i];
	}
}

int loops_measure(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, double max_time, struct qs_values **ret, int *ret_by_setup)
{
	struct work work = {
		.sampler = sampler,
		.plan = plan,
		.max_ns = max_time > 0 ? (uint64_t)(max_time * 1e9) : UINT64_MAX,
		.reading = { -1, -1, -1 },
	};
	int r;

	*ret_by_setup = 0;
	if (!values_is_name(benchmark->name) || plan->loops > VALUES_MAX_LOOPS ||
		!(plan->warmup_time >= 0 && plan->warmup_time <= MAX_WARMUP_TIME))
		return -EINVAL;
	work.values = calloc(1, sizeof(*work.values));
	if (!work.values)
		return -ENOMEM;
	work.values->name = strdup(benchmark->name);
	work.values->inner_loops = benchmark->inner_loops ? benchmark->inner_loops : 1;
	r = work.values->name ? 0 : -ENOMEM;
	work.can_look = plan->look_at_core && core_open(&work.core) == 0;
	if (r == 0)
		r = crew_open(sampler, benchmark, &work.crew);
	if (r == 0 && benchmark->setup) {
		r = benchmark->setup(benchmark, &work.state);
		*ret_by_setup = r < 0;
		/* A positive value of setup() has no meaning. */
		r = r > 0 ? -EINVAL : r;
	}
	if (r == 0) {
		r = take_values(&work);
		if (benchmark->teardown)
			benchmark->teardown(work.state);
	}
	if (r == 0)
		copy_facts(work.crew, work.values);
	crew_close(work.crew);
	if (r < 0) {
		qs_values_free(work.values);
		return r;
	}
	*ret = work.values;
	return 0;
}

int qs_measure(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, struct qs_values **ret)
{
	int by_setup;

	return loops_measure(sampler, benchmark, plan, 0, ret, &by_setup);
}
