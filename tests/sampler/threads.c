// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sampler for each thread, and a collector, all at once: nothing of it is shared. Built with the
 * thread sanitizer, too. A TAP test.
 */
#include <pthread.h>
#include <quiesce/benchmark.h>
#include <stdio.h>
#include <string.h>

enum {
	THREADS = 4,
	SAMPLES = 5000,
};

struct work {
	pthread_t thread;
	int result;
	size_t n;
	double shortest; /* ns */
};

static void spin(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler), sum = 0;

	for (uint64_t i = 0; i < run->loops; i++) {
		qs_hide(sum);
		sum += i;
	}
	qs_keep(sum);
	qs_end(run->sampler, began);
}

static const struct qs_benchmark benchmark = { .name = "spin", .run = spin };

static void *measure(void *argument)
{
	struct work *work = argument;
	struct qs_options options = { .samples = SAMPLES };
	struct qs_plan plan = { .loops = 1000, .values = 3 };
	struct qs_sampler *sampler;
	struct qs_values *values;

	work->result = qs_open(&options, &sampler);
	if (work->result < 0)
		return NULL;
	for (int i = 0; i < SAMPLES; i++)
		qs_end(sampler, qs_begin(sampler));
	work->result = qs_settle(sampler);
	work->n = qs_count(sampler);
	for (size_t i = 0; i < work->n; i++) {
		const struct qs_sample *sample = &qs_samples(sampler)[i];
		double ns = qs_nanoseconds(sampler, sample->end - sample->begin);

		if (i == 0 || ns < work->shortest)
			work->shortest = ns;
	}
	/* Where there is no other CPU it is none; that is tested elsewhere. */
	(void)qs_collector_open(0, &plan.collector);
	if (work->result == 0)
		work->result = qs_measure(sampler, &benchmark, &plan, &values);
	if (work->result == 0)
		qs_values_free(values);
	qs_collector_close(plan.collector);
	qs_close(sampler);
	return NULL;
}

int main(void)
{
	struct work works[THREADS];
	int failed = 0;

	memset(works, 0, sizeof(works));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&works[i].thread, NULL, measure, &works[i]) != 0)
			return 99;
	for (int i = 0; i < THREADS; i++) {
		int ok;

		pthread_join(works[i].thread, NULL);
		ok = works[i].result == 0 && works[i].n == SAMPLES && works[i].shortest >= 0;
		printf("%sok %d - thread %d: %zu samples, result %d\n", ok ? "" : "not ", i + 1,
			i + 1, works[i].n, works[i].result);
		failed |= !ok;
	}
	printf("1..%d\n", THREADS);
	return failed;
}
