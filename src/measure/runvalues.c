// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "measure/runvalues.h"

void runvalues_clear(struct runvalues *v)
{
	facts_clear(&v->benchmark.metadata);
	free(v->benchmark.values);
	free(v->benchmark.warmups);
	free(v->benchmark.runs);
}

int runvalues_reach_run(struct runvalues *v, size_t run)
{
	struct benchmark *b = &v->benchmark;

	while (v->n_runs <= run) {
		int r = array_grow(&b->runs, sizeof(*b->runs), v->n_runs, &v->runs_room);

		if (r < 0)
			return r;
		b->runs[v->n_runs++] = (struct benchmark_run){
			.end = b->n_values,
			.warmup_end = b->n_warmups,
			.loops = 1,
			.inner_loops = v->inner_loops,
			.before_level = -1,
		};
	}
	return 0;
}

int runvalues_add(struct runvalues *v, double seconds)
{
	struct benchmark *b = &v->benchmark;
	int r = array_grow(&b->values, sizeof(*b->values), b->n_values, &v->values_room);

	if (r == 0)
		b->values[b->n_values++] = seconds;
	return r;
}

int runvalues_add_warmup(struct runvalues *v, uint64_t loops, double seconds)
{
	struct benchmark *b = &v->benchmark;
	int r = array_grow(&b->warmups, sizeof(*b->warmups), b->n_warmups, &v->warmups_room);

	if (r == 0)
		b->warmups[b->n_warmups++] = (struct benchmark_warmup){ loops, seconds };
	return r;
}

void runvalues_end_run(struct runvalues *v, size_t run, uint64_t loops)
{
	struct benchmark_run *record = &v->benchmark.runs[run];

	record->end = v->benchmark.n_values;
	record->warmup_end = v->benchmark.n_warmups;
	record->loops = loops;
}

void runvalues_conclude(struct runvalues *v, struct series *series, const struct facts *metadata)
{
	struct benchmark *b = &v->benchmark;

	xcheck(runvalues_reach_run(v, series->n_samples - 1));
	facts_clear(&b->metadata);
	for (size_t i = 0; i < metadata->n; i++) {
		const struct fact *fact = &metadata->items[i];

		if (!text_starts_with(fact->name, "quiesce_floor"))
			facts_set_copy(&b->metadata, fact->name, fact);
	}
	b->metadata.failed = b->metadata.failed || metadata->failed;
	b->series = series;
}
