// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quiesce/benchmark.h"
#include "sampler/core.h"
#include "sampler/values.h"

static const double default_min_time = 0.1;

enum {
	CORE_MAX_NS = 150 * 1000,
	CORE_PART_OF_VALUE = 20,
};

struct work {
	struct qs_sampler *sampler;
	struct qs_run run;
	const struct qs_plan *plan;
	struct qs_values *values;
	size_t room;
	struct qs_reading reading; /* the latest, with a collector */
	int can_look;		   /* the core can be looked at */
	struct core core;
	struct core_reading seen; /* the latest */
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

/* Sums all samples of one call to one value. */
static int sum_samples(const struct qs_sampler *sampler, struct qs_value *value)
{
	const struct qs_sample *samples = qs_samples(sampler);
	size_t n = qs_count(sampler);
	uint64_t ticks = 0;
	double picoseconds;

	if (qs_dropped(sampler) > 0)
		return -ENOBUFS;
	if (n == 0)
		return -ENODATA;
	for (size_t i = 0; i < n; i++) {
		ticks += samples[i].end - samples[i].begin;
		for (size_t c = 0; c < QS_MAX_COUNTERS; c++)
			value->counts[c] += samples[i].counts[c];
	}
	value->cpu_begin = samples[0].cpu_begin;
	value->cpu_end = samples[n - 1].cpu_end;
	picoseconds = qs_nanoseconds(sampler, ticks) * 1e3;
	value->picoseconds = picoseconds < 1 ? 1 : (uint64_t)(picoseconds + 0.5);
	return 0;
}

static void take_reading(struct work *work, struct qs_value *value)
{
	struct qs_reading before = work->reading;

	value->interrupts = value->frequency_khz = value->temperature_mc = -1;
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

static int take_value(struct work *work, enum qs_value_kind kind, uint64_t loops)
{
	struct qs_value *value = append(work);
	int r;

	if (!value)
		return -ENOMEM;
	*value = (struct qs_value){ .kind = kind, .loops = loops };
	qs_reset(work->sampler);
	work->run.loops = loops;
	work->run.benchmark->run(&work->run);
	r = qs_settle(work->sampler);
	if (r == 0)
		r = sum_samples(work->sampler, value);
	if (r == 0 && kind == QS_VALUE_COUNTED)
		look_at_core(work, value->picoseconds / 1000, value);
	if (r == 0)
		take_reading(work, value);
	return r;
}

/* Whether this many loops take long enough: 1, 0 or a negative errno. Measured twice, because one
 * value may be long only because of a disturbance. */
static int take_long_enough(struct work *work, uint64_t loops)
{
	double min_time = work->plan->min_time > 0 ? work->plan->min_time : default_min_time;

	for (int i = 0; i < 2; i++) {
		int r = take_value(work, QS_VALUE_CALIBRATION, loops);

		if (r < 0)
			return r;
		if ((double)work->values->values[work->values->n_values - 1].picoseconds <
			min_time * 1e12)
			return 0;
	}
	return 1;
}

/* Tries 1, 2, 5, 10, 20, 50 ... loops until a value is long enough. */
static int calibrate_loops(struct work *work, uint64_t *ret)
{
	uint64_t loops = 1;
	int r;

	for (unsigned step = 0; loops <= VALUES_MAX_LOOPS; step++) {
		r = take_long_enough(work, loops);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret = loops;
			return 0;
		}
		loops = step % 3 == 1 ? loops / 2 * 5 : loops * 2;
	}
	return -ERANGE;
}

static int take_values(struct work *work)
{
	const struct qs_plan *plan = work->plan;
	uint64_t loops = plan->loops;
	int r = 0;

	if (plan->collector)
		qs_collector_read(plan->collector, &work->reading);
	if (loops == 0)
		r = calibrate_loops(work, &loops);
	work->values->loops = loops;
	for (uint32_t i = 0; r == 0 && i < plan->warmups; i++)
		r = take_value(work, QS_VALUE_WARMUP, loops);
	look_at_core(work, CORE_MAX_NS, NULL);
	for (uint32_t i = 0; r == 0 && i < plan->values; i++)
		r = take_value(work, QS_VALUE_COUNTED, loops);
	return r;
}

static void copy_facts(const struct qs_sampler *sampler, struct qs_values *values)
{
	qs_get_facts(sampler, &values->facts);
	for (size_t i = 0; i < values->facts.n_counters; i++) {
		size_t length = strlen(values->facts.counters[i].name);

		memcpy(values->counter_names[i], values->facts.counters[i].name, length + 1);
		values->facts.counters[i].name = values->counter_names[i];
	}
}

int qs_measure(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, struct qs_values **ret)
{
	struct work work = {
		.sampler = sampler,
		.run = { .sampler = sampler, .benchmark = benchmark },
		.plan = plan,
		.reading = { -1, -1, -1 },
	};
	int r;

	if (!values_is_name(benchmark->name) || plan->loops > VALUES_MAX_LOOPS)
		return -EINVAL;
	work.values = calloc(1, sizeof(*work.values));
	if (!work.values)
		return -ENOMEM;
	work.values->name = strdup(benchmark->name);
	work.values->inner_loops = benchmark->inner_loops ? benchmark->inner_loops : 1;
	r = work.values->name ? 0 : -ENOMEM;
	work.can_look = plan->look_at_core && core_open(&work.core) == 0;
	if (r == 0 && benchmark->setup)
		r = benchmark->setup(benchmark, &work.run.state);
	if (r == 0) {
		r = take_values(&work);
		if (benchmark->teardown)
			benchmark->teardown(work.run.state);
	}
	if (r < 0) {
		qs_values_free(work.values);
		return r;
	}
	copy_facts(sampler, work.values);
	*ret = work.values;
	return 0;
}

void qs_values_free(struct qs_values *values)
{
	if (!values)
		return;
	free(values->name);
	free(values->values);
	free(values);
}

double qs_value_seconds(const struct qs_values *values, size_t index)
{
	const struct qs_value *value = &values->values[index];

	return (double)value->picoseconds / 1e12 / (double)value->loops /
		(double)values->inner_loops;
}
