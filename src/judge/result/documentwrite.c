// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/document.h"
#include "judge/result/joining.h"
#include "judge/result/metadata.h"

/* How a part is going to be written. */
struct incoming {
	const struct document_part *part;
	struct facts metadata; /* of the new runs */
	size_t target;	       /* benchmark that takes the runs, or SIZE_MAX for a new one */
};

struct incoming_parts {
	struct incoming *items;
	size_t n;
};

static void incoming_clear(struct incoming_parts *incoming)
{
	for (size_t i = 0; i < incoming->n; i++)
		facts_clear(&incoming->items[i].metadata);
	free(incoming->items);
}

static inline void cleanup_incoming(struct incoming_parts *incoming)
{
	incoming_clear(incoming);
}
#define _cleanup_incoming_ __attribute__((cleanup(cleanup_incoming)))

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

static void set_figures(const struct series *series, struct facts *metadata)
{
	for (size_t i = 0; i < series->n_events; i++) {
		const struct event_kind *kind = &series->event_kinds[i];
		_cleanup_free_ char *name = NULL, *text = figure_text(kind);
		_cleanup_free_ char *within = xformat(METADATA_WITHIN "%s", series->event_names[i]);
		_cleanup_free_ char *deviation =
			xformat(METADATA_DEVIATION "%s", series->event_names[i]);

		if (!text)
			continue;
		name = xformat(METADATA_FIGURE "%s", series->event_names[i]);
		facts_set_string(metadata, name, text);
		if (kind->n_within > 0) {
			facts_set_integer(metadata, within, (int64_t)kind->n_within);
			facts_set_real(metadata, deviation, event_deviation_within(kind));
		}
	}
}

static int take_parts(const struct document_part *parts, size_t n, struct incoming_parts *ret)
{
	int r = 0;

	ret->items = xptr(calloc(n, sizeof(struct incoming)));
	ret->n = n;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct incoming *one = &ret->items[i];
		const struct series *series = parts[i].series;

		*one = (struct incoming){ .part = &parts[i], .target = SIZE_MAX };
		r = check_series(series, parts[i].inside);
		if (r >= 0)
			r = metadata_make(parts[i].metadata, &one->metadata);
		if (r < 0)
			return r;
		/* Values that the program measured itself have another clock (quiesce_stamps). */
		if (!parts[i].inside)
			facts_set_string(
				&one->metadata, METADATA_CLOCK, window_clock_name(series->clock));
		set_figures(series, &one->metadata);
		if (one->metadata.failed)
			xalloc_fail();
	}
	return r;
}

static struct incoming *find_incoming(const struct incoming_parts *incoming, size_t target)
{
	for (size_t i = 0; i < incoming->n; i++)
		if (incoming->items[i].target == target)
			return &incoming->items[i];
	return NULL;
}

static struct strand make_strand(const struct incoming *one)
{
	return (struct strand){
		.series = one->part->series,
		.metadata = &one->metadata,
		.inside = one->part->inside,
	};
}

/* Writes a benchmark of the existing file, with the new runs behind its own if there are any. */
static int write_existing(
	struct emit *emit, const struct benchmark *existing, const struct incoming *one)
{
	struct strand strands[2] = { { .kept = existing->kept } };
	struct joined joined = {
		.strands = strands,
		.n = 1,
		.members = &existing->kept->members,
	};
	struct facts common = { 0 };
	int r;

	if (one) {
		strands[joined.n++] = make_strand(one);
		facts_copy(&common, &existing->metadata);
		joined_reduce(&common, &one->metadata);
		joined.common = &common;
		joined.stays = &one->metadata;
	}
	if (common.failed)
		xalloc_fail();
	r = joined_write(emit, &joined);
	facts_clear(&common);
	return r;
}

static int write_new(struct emit *emit, const struct incoming *one)
{
	const struct strand strand = make_strand(one);

	return joined_write(emit, &(struct joined){ .strands = &strand, .n = 1 });
}

static int write_all(
	FILE *stream, const struct suite *existing, const struct incoming_parts *incoming)
{
	struct emit emit = { .stream = stream, .one_line = true };
	size_t n_existing = existing ? existing->n : 0, n = 0;
	int r = 0;

	joined_begin_file(&emit);
	for (size_t i = 0; r >= 0 && i < n_existing; i++) {
		joined_separate(&emit, n++);
		r = write_existing(&emit, existing->benchmarks[i], find_incoming(incoming, i));
	}
	for (size_t i = 0; r >= 0 && i < incoming->n; i++) {
		if (incoming->items[i].target != SIZE_MAX)
			continue;
		joined_separate(&emit, n++);
		r = write_new(&emit, &incoming->items[i]);
	}
	return r < 0 ? r : joined_end_file(&emit, existing ? &existing->members : NULL);
}

/* Finds the benchmarks that get the runs. -EINVAL where the runs do not agree with the runs of
 * these benchmarks. */
static int find_targets(const struct suite *existing, struct incoming_parts *incoming)
{
	for (size_t i = 0; i < incoming->n; i++) {
		struct incoming *one = &incoming->items[i];
		const char *name = facts_find(&one->metadata, "name")->string;
		_cleanup_free_ char *why = NULL;
		int r;

		r = document_judge_append(existing, &one->metadata, &why);
		if (r < 0)
			return r;
		one->target = suite_find_index(existing, name);
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
	FILE *stream, const struct suite *existing, const struct document_part *parts, size_t n)
{
	_cleanup_incoming_ struct incoming_parts incoming = { 0 };
	int r;

	if (n == 0 || !names_differ(parts, n))
		return -EINVAL;
	r = take_parts(parts, n, &incoming);
	if (r >= 0 && existing)
		r = find_targets(existing, &incoming);
	if (r < 0)
		return r;
	return write_all(stream, existing, &incoming);
}
