// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "measure/hosted.h"

struct hosted {
	struct benchmark benchmark; /* metadata and series are set by hosted_get_benchmark() */
	size_t values_room;
	size_t warmups_room;
	size_t n_runs;
	size_t runs_room;
};

struct hosted *hosted_new(void)
{
	return xptr(calloc(1, sizeof(struct hosted)));
}

void hosted_free(struct hosted *hosted)
{
	if (!hosted)
		return;
	facts_clear(&hosted->benchmark.metadata);
	free(hosted->benchmark.values);
	free(hosted->benchmark.warmups);
	free(hosted->benchmark.runs);
	free(hosted);
}

/* Adds run records up to and including this run; they are empty for runs without values. */
static int reach_run(struct hosted *hosted, size_t run)
{
	struct benchmark *b = &hosted->benchmark;

	while (hosted->n_runs <= run) {
		int r = array_grow(&b->runs, sizeof(*b->runs), hosted->n_runs, &hosted->runs_room);

		if (r < 0)
			return r;
		b->runs[hosted->n_runs++] = (struct benchmark_run){
			.end = b->n_values,
			.warmup_end = b->n_warmups,
			.loops = 1,
			.inner_loops = 1,
		};
	}
	return 0;
}

static int append_warmup(struct hosted *hosted, uint64_t loops, double value)
{
	struct benchmark *b = &hosted->benchmark;
	int r = array_grow(&b->warmups, sizeof(*b->warmups), b->n_warmups, &hosted->warmups_room);

	if (r == 0)
		b->warmups[b->n_warmups++] = (struct benchmark_warmup){ loops, value };
	return r;
}

static int append_value(struct hosted *hosted, double value)
{
	struct benchmark *b = &hosted->benchmark;
	int r = array_grow(&b->values, sizeof(*b->values), b->n_values, &hosted->values_room);

	if (r == 0)
		b->values[b->n_values++] = value;
	return r;
}

int hosted_add(struct hosted *hosted, size_t run, bool warmup, uint64_t loops, const double *values,
	size_t n)
{
	struct benchmark_run *record;
	int r = reach_run(hosted, run);

	loops = MAX(loops, (uint64_t)1);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = warmup ? append_warmup(hosted, loops, values[i])
			   : append_value(hosted, values[i]);
	if (r < 0)
		return r;
	record = &hosted->benchmark.runs[run];
	record->end = hosted->benchmark.n_values;
	record->warmup_end = hosted->benchmark.n_warmups;
	record->loops = loops;
	return 0;
}

/* What is about stamps around the whole program is not about values that it gives itself. */
static bool is_of_stamps(const struct fact *fact)
{
	return text_starts_with(fact->name, "quiesce_floor") ||
		strcmp(fact->name, METADATA_STAMPS) == 0 || strcmp(fact->name, "timer") == 0;
}

struct benchmark *hosted_get_benchmark(
	struct hosted *hosted, struct series *series, const struct facts *metadata)
{
	struct benchmark *b = &hosted->benchmark;

	if (b->n_values == 0)
		return NULL;
	xcheck(reach_run(hosted, series->n_samples - 1));
	facts_clear(&b->metadata);
	for (size_t i = 0; i < metadata->n; i++)
		if (!is_of_stamps(&metadata->items[i]))
			facts_set_copy(&b->metadata, metadata->items[i].name, &metadata->items[i]);
	b->metadata.failed = b->metadata.failed || metadata->failed;
	if (b->metadata.failed)
		xalloc_fail();
	b->series = series;
	return b;
}
