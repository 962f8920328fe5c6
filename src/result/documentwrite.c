// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "result/document.h"
#include "result/metadata.h"
#include "result/runwrite.h"
#include "result/splice.h"

/* How a part is going to be written. */
struct plan {
	const struct document_part *part;
	struct facts metadata; /* of the new runs */
	struct facts carried;  /* those metadata that each new run has to repeat */
	size_t target;	       /* benchmark that takes the runs, or SIZE_MAX for a new one */
};

struct plans {
	struct plan *items;
	size_t n;
};

static void plans_clear(struct plans *plans)
{
	for (size_t i = 0; plans->items && i < plans->n; i++) {
		facts_clear(&plans->items[i].metadata);
		facts_clear(&plans->items[i].carried);
	}
	free(plans->items);
}

static inline void cleanup_plans(struct plans *plans)
{
	plans_clear(plans);
}
#define _cleanup_plans_ __attribute__((cleanup(cleanup_plans)))

/* Refuses, before the first byte is written, a series that would make a file that pyperf does not
 * load. */
static int check_series(const struct series *series, const struct benchmark *inside)
{
	if (series->n_samples == 0 || (inside && inside->n_values == 0))
		return -ENODATA;
	for (size_t i = 0; inside && i < inside->n_values; i++)
		if (!(inside->values[i] > 0))
			return -EDOM;
	for (size_t i = 0; !inside && i < series->n_samples; i++)
		if (!(series_value(series, i) > 0))
			return -EDOM;
	return 0;
}

static int make_plans(const struct document_part *parts, size_t n, struct plans *ret)
{
	int r = 0;

	ret->items = calloc(n, sizeof(struct plan));
	ret->n = n;
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct plan *plan = &ret->items[i];
		const struct series *series = parts[i].series;

		*plan = (struct plan){ .part = &parts[i], .target = SIZE_MAX };
		r = check_series(series, parts[i].inside);
		if (r >= 0)
			r = metadata_make(parts[i].metadata, &plan->metadata);
		if (r < 0)
			return r;
		/* Values that the program measured itself have another clock (quiesce_stamps). */
		if (!parts[i].inside)
			facts_set_string(
				&plan->metadata, METADATA_CLOCK, window_clock_name(series->clock));
		if (plan->metadata.failed)
			r = -ENOMEM;
	}
	return r;
}

static void write_new_benchmark(struct emit *emit, const struct plan *plan)
{
	static const struct facts none = { 0 };
	static const char metadata[] = "{\"metadata\": ", runs[] = ", \"runs\": [";

	emit_verbatim(emit, metadata, strlen(metadata));
	emit_facts(emit, NULL, &plan->metadata);
	emit_verbatim(emit, runs, strlen(runs));
	runs_write(emit, plan->part->series, plan->part->inside, &none, false);
	emit_verbatim(emit, "]}", 2);
}

static int write_new(FILE *stream, const struct plans *plans)
{
	static const char head[] = "{\"version\": \"1.0\", \"benchmarks\": [";
	struct emit emit = { .stream = stream, .one_line = true };

	emit_verbatim(&emit, head, strlen(head));
	for (size_t i = 0; i < plans->n; i++) {
		if (i > 0)
			emit_verbatim(&emit, ", ", 2);
		write_new_benchmark(&emit, &plans->items[i]);
	}
	emit_verbatim(&emit, "]}", 2);
	return emit_finish(&emit);
}

/* --- Appending --- */

/* Metadata of the suite stay there if each part has metadata of the same name: new runs repeat
 * those that differ. All other metadata would wrongly hold for the new runs too, and move to the
 * old benchmarks. */
static int divide_suite(const struct document *existing, const struct plans *plans,
	struct selection *kept, struct selection *moved)
{
	const struct members *suite = &existing->metadata;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < suite->facts.n; i++) {
		bool in_all = true;

		for (size_t k = 0; k < plans->n; k++)
			in_all = in_all &&
				facts_find(&plans->items[k].metadata, suite->facts.items[i].name);
		r = selection_add(in_all ? kept : moved, suite, i);
	}
	return r;
}

/* The same for the benchmark that gets new runs: metadata that do not hold for these move to its
 * old runs. */
static int divide_target(const struct members *target, const struct plan *plan,
	struct selection *kept, struct selection *moved)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < target->facts.n; i++)
		r = selection_add(
			facts_find(&plan->metadata, target->facts.items[i].name) ? kept : moved,
			target, i);
	return r;
}

/* Metadata of the new runs that the benchmark and the suite do not say already. */
static int find_carried(
	struct plan *plan, const struct selection *target, const struct selection *suite)
{
	for (size_t i = 0; i < plan->metadata.n; i++) {
		const struct fact *fact = &plan->metadata.items[i];
		const struct selection_item *above = selection_find(target, fact->name);

		if (!above)
			above = selection_find(suite, fact->name);
		if (!above || !metadata_equal_facts(above->fact, fact))
			facts_set_copy(&plan->carried, fact->name, fact);
	}
	return plan->carried.failed ? -ENOMEM : 0;
}

static struct plan *find_plan(const struct plans *plans, size_t target)
{
	for (size_t i = 0; i < plans->n; i++)
		if (plans->items[i].target == target)
			return &plans->items[i];
	return NULL;
}

static int append_to(struct splice *splice, size_t index, struct plan *plan,
	const struct selection *suite_kept, const struct selection *suite_moved)
{
	_cleanup_selection_ struct selection kept = { 0 }, moved = { 0 };
	const struct benchmark_change change = { .metadata = &kept, .moved = &moved };
	int r;

	r = selection_add_all(&moved, suite_moved);
	if (r >= 0)
		r = divide_target(&splice->document->benchmarks[index], plan, &kept, &moved);
	if (r >= 0)
		r = find_carried(plan, &kept, suite_kept);
	if (r < 0)
		return r;
	splice_runs(splice, index, &change);
	runs_write(splice->emit, plan->part->series, plan->part->inside, &plan->carried, true);
	splice_end_benchmark(splice, index, &change);
	return 0;
}

/* A benchmark that gets no new runs gets the metadata that leave the suite. */
static int copy_benchmark(struct splice *splice, size_t index, const struct selection *suite_moved)
{
	const struct members *own = &splice->document->benchmarks[index];
	_cleanup_selection_ struct selection all = { 0 };
	const struct benchmark_change change = { .metadata = suite_moved->n > 0 ? &all : NULL };
	int r;

	r = selection_add_all(&all, suite_moved);
	for (size_t i = 0; r >= 0 && i < own->facts.n; i++)
		r = selection_add(&all, own, i);
	if (r < 0)
		return r;
	splice_runs(splice, index, &change);
	splice_end_benchmark(splice, index, &change);
	return 0;
}

static int append_benchmarks(struct splice *splice, const struct plans *plans,
	const struct selection *suite_kept, const struct selection *suite_moved)
{
	const struct outline *outline = &splice->document->outline;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < outline->n_benchmarks; i++) {
		struct plan *plan = find_plan(plans, i);

		r = plan ? append_to(splice, i, plan, suite_kept, suite_moved)
			 : copy_benchmark(splice, i, suite_moved);
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < plans->n; i++) {
		if (plans->items[i].target != SIZE_MAX)
			continue;
		emit_verbatim(splice->emit, ", ", 2);
		write_new_benchmark(splice->emit, &plans->items[i]);
	}
	return 0;
}

static int write_appended(FILE *stream, const struct document *existing, const struct plans *plans)
{
	_cleanup_selection_ struct selection kept = { 0 }, moved = { 0 };
	const struct outline *outline = &existing->outline;
	bool metadata_first = outline->metadata.begin < outline->benchmarks[0].whole.begin;
	struct emit emit = { .stream = stream, .one_line = true };
	struct splice splice = {
		.emit = &emit,
		.document = existing,
		.at = outline->whole.begin,
	};
	int r;

	r = divide_suite(existing, plans, &kept, &moved);
	if (r < 0)
		return r;
	if (moved.n > 0 && metadata_first)
		splice_metadata(&splice, outline->whole, outline->metadata, &kept);
	r = append_benchmarks(&splice, plans, &kept, &moved);
	if (r < 0)
		return r;
	if (moved.n > 0 && !metadata_first)
		splice_metadata(&splice, outline->whole, outline->metadata, &kept);
	splice_copy(&splice, outline->whole.end);
	return emit_finish(&emit);
}

/* Finds the benchmarks that get the runs. -EINVAL where the runs do not agree with the runs of
 * these benchmarks. */
static int find_targets(const struct document *existing, struct plans *plans)
{
	for (size_t i = 0; i < plans->n; i++) {
		struct plan *plan = &plans->items[i];
		const char *name = facts_find(&plan->metadata, "name")->string;
		_cleanup_free_ char *why = NULL;
		int r;

		r = document_judge_append(existing, &plan->metadata, &why);
		if (r < 0)
			return r;
		plan->target = suite_find_index(existing->suite, name);
	}
	return 0;
}

/* pyperf refuses a file with two benchmarks of one name. */
static bool names_differ(const struct document_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			const char *a = facts_find_string(parts[i].metadata, "name");
			const char *b = facts_find_string(parts[j].metadata, "name");

			if (a && b && metadata_equal_strings(a, b))
				return false;
		}
	}
	return true;
}

int document_write(
	FILE *stream, const struct document *existing, const struct document_part *parts, size_t n)
{
	_cleanup_plans_ struct plans plans = { 0 };
	int r;

	if (n == 0 || !names_differ(parts, n))
		return -EINVAL;
	r = make_plans(parts, n, &plans);
	if (r >= 0 && existing)
		r = find_targets(existing, &plans);
	if (r < 0)
		return r;
	return existing ? write_appended(stream, existing, &plans) : write_new(stream, &plans);
}
