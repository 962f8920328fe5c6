// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/stats/stats.h"
#include "measure/hosted.h"
#include "measure/runvalues.h"

struct hosted {
	struct runvalues values;
};

struct hosted *hosted_new(void)
{
	struct hosted *hosted = xptr(calloc(1, sizeof(*hosted)));

	hosted->values.inner_loops = 1;
	return hosted;
}

void hosted_free(struct hosted *hosted)
{
	if (!hosted)
		return;
	runvalues_clear(&hosted->values);
	free(hosted);
}

int hosted_add(struct hosted *hosted, size_t run, bool warmup, uint64_t loops, const double *values,
	size_t n)
{
	int r = runvalues_reach_run(&hosted->values, run);

	loops = MAX(loops, (uint64_t)1);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = warmup ? runvalues_add_warmup(&hosted->values, loops, values[i])
			   : runvalues_add(&hosted->values, values[i]);
	if (r == 0)
		runvalues_end_run(&hosted->values, run, loops);
	return r;
}

void hosted_restore_figure(const struct hosted *hosted, struct series *series)
{
	const struct benchmark *b = &hosted->values.benchmark;
	size_t event = 0;

	while (event < series->n_events &&
		!(series->event_kinds[event].own && unit_is_time(series->event_kinds[event].unit)))
		event++;
	for (size_t i = 0; event < series->n_events && i < series->n_samples; i++) {
		size_t first, n;

		benchmark_run_values(b, i, &first, &n);
		if (n > 0)
			series->counters[i * series->n_events + event] =
				stats_mean(b->values + first, n);
	}
}

const struct settling *hosted_get_settling(const struct hosted *hosted)
{
	return hosted ? &hosted->values.benchmark.settling : NULL;
}

struct benchmark *hosted_get_benchmark(
	struct hosted *hosted, struct series *series, const struct facts *metadata)
{
	struct benchmark *b = &hosted->values.benchmark;

	if (b->n_values == 0)
		return NULL;
	runvalues_conclude(&hosted->values, series, metadata);
	/* They are about stamps around the whole program. */
	facts_remove(&b->metadata, METADATA_STAMPS);
	facts_remove(&b->metadata, "timer");
	if (b->metadata.failed)
		xalloc_fail();
	return b;
}
