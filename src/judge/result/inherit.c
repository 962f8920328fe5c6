// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/result/metadata.h"
#include "judge/result/reading.h"
#include "judge/result/weight.h"

static const struct run_name *find_name(const struct pending *pending, const char *name)
{
	for (size_t i = 0; i < pending->n_names; i++)
		if (strcmp(pending->names[i].name, name) == 0)
			return &pending->names[i];
	return NULL;
}

static bool is_mentioned(
	const struct reader *reader, const struct pending *pending, const char *key)
{
	return find_name(pending, key) || facts_find(&pending->metadata, key) ||
		facts_find(&reader->suite_metadata, key);
}

/* Whether a fact of the suite or the benchmark holds for each run: a run may have another value. */
static bool holds_for_all(const struct pending *pending, const struct fact *fact)
{
	const struct run_name *name = find_name(pending, fact->name);

	if (!name)
		return true;
	if (name->varies)
		return false;
	return metadata_equal_facts(&name->first.items[0], fact);
}

static int merge_metadata(struct reader *reader, struct pending *pending)
{
	const struct facts *layers[] = { &reader->suite_metadata, &pending->metadata };
	struct benchmark *b = pending->benchmark;
	int r = 0;

	/* These are copies, one for each benchmark, of metadata whose size was counted before. */
	for (size_t layer = 0; layer < ARRAY_SIZE(layers); layer++) {
		for (size_t i = 0; r >= 0 && i < layers[layer]->n; i++) {
			const struct fact *fact = &layers[layer]->items[i];

			if (layer == 0 && facts_find(layers[1], fact->name))
				continue;
			if (holds_for_all(pending, fact))
				r = reader_keep_fact(reader, &b->metadata, fact);
		}
	}
	for (size_t i = 0; r >= 0 && i < pending->n_names; i++) {
		const struct run_name *name = &pending->names[i];

		if (name->n_seen == b->series->n_samples && !name->varies)
			r = reader_keep_fact(reader, &b->metadata, &name->first.items[0]);
	}
	return r;
}

/* The first run's value: its own, or inherited from the benchmark or the suite. */
static const struct fact *first_fact(
	const struct reader *reader, const struct pending *pending, const char *key)
{
	const struct run_name *name = find_name(pending, key);
	const struct fact *fact;

	if (name && name->in_first_run)
		return &name->first.items[0];
	fact = facts_find(&pending->metadata, key);
	return fact ? fact : facts_find(&reader->suite_metadata, key);
}

/* Metadata of the suite or the benchmark, which hold for each run that has no other value. */
struct common {
	struct run_field field;
	const struct fact *fact; /* borrowed */
};

/* Provenances are not kept for each run: see spread_provenance(). A turn is of one run. */
static bool is_of_runs(const struct run_fact *fact)
{
	return fact && fact->part != PART_PROVENANCE && fact->kind != KIND_TURN;
}

/* Finds the common metadata that a run has a field for. `ret` has room for all metadata. */
static int find_common(
	const struct reader *reader, struct pending *pending, struct common *ret, size_t *ret_n)
{
	const struct facts *layers[] = { &pending->metadata, &reader->suite_metadata };
	size_t n = 0;

	for (size_t layer = 0; layer < ARRAY_SIZE(layers); layer++) {
		for (size_t i = 0; i < layers[layer]->n; i++) {
			const struct fact *fact = &layers[layer]->items[i];
			int r;

			if (layer == 1 && facts_find(layers[0], fact->name))
				continue;
			r = run_field_find(pending->benchmark->series, fact->name, &ret[n].field);
			if (r < 0)
				return r;
			ret[n].fact = fact;
			if (is_of_runs(ret[n].field.fact))
				n++;
		}
	}
	*ret_n = n;
	return 0;
}

/* Copies those of the common metadata into a run that it has no other value of: those that are of
 * the CPUs, or all others. */
static int spread_over_run(struct run_place *place, struct series *series,
	const struct common *common, size_t n, bool of_given_cpus)
{
	for (size_t i = 0; i < n; i++) {
		const struct run_field *field = &common[i].field;
		int r;

		if (field->fact->of_given_cpus != of_given_cpus || run_field_is_known(field, place))
			continue;
		r = run_field_read(field, place, series, common[i].fact);
		if (r < 0)
			return r;
		/* A duration of 0 is none here. */
		place->has_duration = false;
	}
	return 0;
}

/* Copies the common metadata into each run that has no other value. What cpu_temp and cpu_freq tell
 * of the CPUs is not of a run that was elsewhere; whether it was may be said behind them, or above
 * all runs. */
static int spread_common(const struct reader *reader, struct pending *pending)
{
	bool has_temperature = is_mentioned(reader, pending, "quiesce_temperature_after");
	bool has_frequency = is_mentioned(reader, pending, "quiesce_frequency_khz");
	size_t n = pending->metadata.n + reader->suite_metadata.n;
	_cleanup_free_ struct common *common = calloc(n + 1, sizeof(*common));
	struct benchmark *b = pending->benchmark;
	int r;

	if (!common)
		return -ENOMEM;
	r = find_common(reader, pending, common, &n);
	if (r < 0 || (n == 0 && !find_name(pending, "quiesce_elsewhere")))
		return r;
	for (size_t k = 0; k < b->series->n_samples; k++) {
		struct run_place place = run_place_of(b->series, k, &b->runs[k]);
		struct evidence *evidence = place.parts[PART_EVIDENCE];
		bool elsewhere;

		r = spread_over_run(&place, b->series, common, n, false);
		elsewhere = evidence && evidence->elsewhere > 0;
		if (r >= 0 && !elsewhere)
			r = spread_over_run(&place, b->series, common, n, true);
		if (r < 0)
			return r;
		if (elsewhere && !has_temperature)
			evidence->temperature_after = NAN;
		if (elsewhere && !has_frequency)
			evidence->frequency_khz = -1;
	}
	return 0;
}

/* Facts of the suite or the benchmark about the machine, or the order, hold for the sittings that
 * have no other value. */
static int spread_provenance(const struct reader *reader, struct pending *pending)
{
	const struct facts *layers[] = { &pending->metadata, &reader->suite_metadata };
	struct series *series = pending->benchmark->series;

	for (size_t layer = 0; layer < ARRAY_SIZE(layers); layer++) {
		for (size_t i = 0; i < layers[layer]->n; i++) {
			const struct fact *fact = &layers[layer]->items[i];
			struct run_field field;
			int r = run_field_find(series, fact->name, &field);

			if (r >= 0 && (!field.fact || field.fact->part != PART_PROVENANCE))
				continue;
			for (size_t k = 0; r >= 0 && k < series->n_sittings; k++) {
				struct run_place place = {
					.parts[PART_PROVENANCE] = &series->sittings[k].provenance,
				};

				if (!run_field_is_known(&field, &place))
					r = run_field_read(&field, &place, series, fact);
			}
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* As in pyperf (_bench.py: Run._get_duration): the duration in the run's metadata, or the sum of
 * its values. */
static double run_seconds(const struct benchmark *b, size_t at)
{
	double sum = 0;
	size_t first, n;

	if (b->series->samples[at].user_ns > 0)
		return (double)b->series->samples[at].user_ns / (double)NSEC_PER_SEC;
	benchmark_run_values(b, at, &first, &n);
	for (size_t i = first; i < first + n; i++)
		sum += b->values[i] * benchmark_raw_factor(b, at);
	benchmark_run_warmups(b, at, &first, &n);
	for (size_t i = first; i < first + n; i++)
		sum += b->warmups[i].value * (double)b->warmups[i].loops *
			(double)b->runs[at].inner_loops;
	return sum;
}

/* Before 1.0, pyperf wrote the time of all loops of a warm-up. */
static void divide_warmups(struct benchmark *b)
{
	for (size_t i = 0, at = 0; i < b->series->n_samples; i++)
		for (; at < b->runs[i].warmup_end; at++)
			b->warmups[at].value /=
				(double)b->warmups[at].loops * (double)b->runs[i].inner_loops;
}

static void settle_times(struct benchmark *b, bool is_old)
{
	int64_t first_ns = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < b->series->n_samples; i++) {
		if (b->runs[i].loops == 0)
			b->runs[i].loops = 1;
		if (b->runs[i].inner_loops == 0)
			b->runs[i].inner_loops = 1;
	}
	if (is_old)
		divide_warmups(b);
	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct sample *sample = &b->series->samples[i];
		double seconds = run_seconds(b, i);

		if (b->unit == UNIT_SECOND || sample->user_ns > 0)
			b->total_seconds += seconds;
		if (sample->start_ns < 0)
			continue;
		first_ns = MIN(first_ns, sample->start_ns);
		last = MAX(
			last, sample->start_ns / NSEC_PER_SEC + (int64_t)ceil(MIN(seconds, 9e9)));
	}
	b->has_dates = first_ns != INT64_MAX;
	if (b->has_dates) {
		b->series->start_realtime_ns = first_ns;
		b->first_date = first_ns / NSEC_PER_SEC;
		b->last_date = last;
	}
	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct sample *sample = &b->series->samples[i];

		if (sample->start_ns >= 0)
			sample->start_ns -= first_ns;
	}
}

/* Whether runs differ in this name, so that pyperf refuses the file. If only some of the runs have
 * a value, it has to be equal to the value above all runs. */
static bool is_disputed(
	const struct pending *pending, const struct run_name *name, const struct fact *above)
{
	if (name->varies)
		return true;
	return name->n_seen < pending->benchmark->series->n_samples &&
		(!above || !metadata_equal_facts(&name->first.items[0], above));
}

static void find_agreement(
	const struct reader *reader, const struct pending *pending, struct kept *ret)
{
	ret->clock = -1;
	for (size_t i = 0; i <= METADATA_N_AGREED; i++) {
		bool is_clock = i == METADATA_N_AGREED;
		const char *key = is_clock ? METADATA_CLOCK : metadata_agreed_keys[i];
		const struct run_name *name = find_name(pending, key);
		const struct fact *above = facts_find(&pending->metadata, key);

		if (!above)
			above = facts_find(&reader->suite_metadata, key);
		if (is_clock && (name || above))
			ret->clock = metadata_get_clock(name ? &name->first.items[0] : above);
		/* Runs of pyperf's own do not tell their clock. */
		if (is_clock && name && !above && !name->varies)
			continue;
		if (name && is_disputed(pending, name, above))
			ret->disputed = key;
	}
}

/* What writes evidence and no flags gets the flags that runpinned would have set by it. Of
 * runpinned, a run without flags has none. */
static int derive_flags(const struct reader *reader, struct pending *pending)
{
	struct series *series = pending->benchmark->series;
	/* pyperf's own cpu_freq is of one moment, and says little of the run. */
	bool has_frequency = is_mentioned(reader, pending, "quiesce_frequency_khz");
	struct weight_base base;
	int r;

	if (!series->with_evidence || is_mentioned(reader, pending, "quiesce_flags") ||
		is_mentioned(reader, pending, "quiesce_version"))
		return 0;
	r = weight_base_find(series, &base);
	if (r < 0)
		return r;
	if (!has_frequency)
		base.frequency_khz = NAN;
	for (size_t i = 0; i < series->n_samples; i++) {
		struct weights weights;

		weights_find(&base, &series->samples[i], &series->evidence[i], &weights);
		series->samples[i].flags |= weight_flags(&series->evidence[i], &weights);
	}
	return 0;
}

int reader_finish_benchmark(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	const struct fact *name = first_fact(reader, pending, "name");
	const struct fact *unit = first_fact(reader, pending, "unit");
	const struct fact *clock = first_fact(reader, pending, METADATA_CLOCK);
	int r;

	if (!name || name->type != FACT_STRING)
		return reader_refuse(reader, "no pyperf result: a benchmark without a name");
	b->name = strdup(name->string);
	if (!b->name)
		return -ENOMEM;
	/* metadata_judge() has accepted it: one of the three units, or absent. */
	r = unit_parse(unit ? unit->string : NULL, &b->unit);
	if (r < 0)
		return r;
	b->series->clock =
		clock && metadata_get_clock(clock) == WINDOW_KERNEL ? WINDOW_KERNEL : WINDOW_USER;
	r = merge_metadata(reader, pending);
	if (r >= 0)
		r = spread_common(reader, pending);
	if (r >= 0)
		r = spread_provenance(reader, pending);
	if (r < 0)
		return r;
	r = reader_extend_figures(b);
	if (r >= 0)
		r = derive_flags(reader, pending);
	if (r < 0)
		return r;
	settle_times(b, reader->is_old);
	if (!b->kept)
		return 0;
	find_agreement(reader, pending, b->kept);
	kept_shrink(b->kept);
	facts_add(&b->kept->above, &reader->suite_above);
	return b->kept->above.failed ? -ENOMEM : 0;
}
