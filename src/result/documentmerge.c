// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/document.h"
#include "result/metadata.h"
#include "result/splice.h"

struct merge {
	struct document *const *documents;
	size_t n;
	struct emit *emit;
};

/* Two benchmarks of one name: refused if their runs do not agree. */
static int check_agreement(const struct document *old, size_t old_index, const struct document *new,
	size_t new_index, char **ret_why)
{
	const struct agreed a = document_get_agreed(old, old_index);
	const struct agreed b = document_get_agreed(new, new_index);
	_cleanup_free_ char *text_a = NULL, *text_b = NULL;
	const char *key;
	int r;

	r = document_find_difference(&a, &b, &key, &text_a, &text_b);
	if (r <= 0)
		return r;
	return text_refuse(ret_why, -EINVAL, "benchmark '%s': metadata '%s' differ: %s and %s",
		old->suite->benchmarks[old_index]->name, key, text_a, text_b);
}

/* Compares the benchmarks of a file with those of the same names in the files before it. */
static int check_file(const struct merge *merge, size_t file, char **ret_why)
{
	const struct document *document = merge->documents[file];

	for (size_t i = 0; i < document->suite->n; i++) {
		for (size_t before = 0; before < file; before++) {
			const struct document *old = merge->documents[before];
			size_t at =
				suite_find_index(old->suite, document->suite->benchmarks[i]->name);
			int r = at == SIZE_MAX ? 0 : check_agreement(old, at, document, i, ret_why);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* --- One benchmark of all files --- */

/* Does a value hold for all runs of the benchmark in the files from `first` on? */
static bool holds_in_all(const struct merge *merge, size_t first, const char *benchmark,
	const struct selection_item *item)
{
	for (size_t i = first; i < merge->n; i++) {
		const struct benchmark *b = suite_find(merge->documents[i]->suite, benchmark);
		const struct fact *fact = b ? facts_find(&b->metadata, item->name) : NULL;

		if (b && (!fact || !metadata_equal_facts(fact, item->fact)))
			return false;
	}
	return true;
}

/* Metadata that all runs share. In the first file they stand in the suite, the benchmark or the
 * first run, whose metadata are `run`. */
static int find_common(const struct merge *merge, size_t first, size_t index,
	const struct members *run, struct selection *ret)
{
	const struct document *document = merge->documents[first];
	const struct members *layers[] = { &document->metadata, &document->benchmarks[index], run };
	const char *name = document->suite->benchmarks[index]->name;
	_cleanup_selection_ struct selection all = { 0 };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		for (size_t k = 0; r >= 0 && k < layers[i]->facts.n; k++)
			r = selection_add(&all, layers[i], k);
	for (size_t i = 0; r >= 0 && i < all.n; i++)
		if (holds_in_all(merge, first, name, &all.items[i]))
			r = selection_add_item(ret, &all.items[i]);
	return r;
}

/* Metadata that stand above the runs of a benchmark in its old file, and not in the new one. */
static int find_moved(const struct document *document, size_t index, const struct selection *common,
	struct selection *ret)
{
	const struct members *layers[] = { &document->metadata, &document->benchmarks[index] };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		for (size_t k = 0; r >= 0 && k < layers[i]->facts.n; k++)
			if (!selection_find(common, layers[i]->facts.items[k].name))
				r = selection_add(ret, layers[i], k);
	return r;
}

static int write_further_runs(
	const struct merge *merge, size_t file, size_t index, const struct selection *common)
{
	_cleanup_selection_ struct selection moved = { 0 };
	const struct benchmark_change change = { .moved = &moved, .hoisted = common };
	int r;

	r = find_moved(merge->documents[file], index, common, &moved);
	if (r >= 0)
		splice_further_runs(merge->emit, merge->documents[file], index, &change);
	return r;
}

/* The benchmark as the first file has it, followed by the runs from the other files. */
static int write_benchmark(
	const struct merge *merge, struct splice *splice, size_t first, size_t index)
{
	const struct document *document = merge->documents[first];
	_cleanup_selection_ struct selection common = { 0 }, moved = { 0 };
	const struct benchmark_change change = {
		.metadata = &common,
		.moved = &moved,
		.hoisted = &common,
	};
	_cleanup_members_ struct members run = { 0 };
	int r;

	r = members_read(
		document->text, document->outline.benchmarks[index].runs[0].metadata, &run);
	if (r >= 0)
		r = find_common(merge, first, index, &run, &common);
	if (r >= 0)
		r = find_moved(document, index, &common, &moved);
	if (r < 0)
		return r;
	splice_runs(splice, index, &change);
	for (size_t i = first + 1; r >= 0 && i < merge->n; i++) {
		size_t at = suite_find_index(
			merge->documents[i]->suite, document->suite->benchmarks[index]->name);

		if (at != SIZE_MAX)
			r = write_further_runs(merge, i, at, &common);
	}
	if (r >= 0)
		splice_end_benchmark(splice, index, &change);
	return r;
}

/* --- The whole --- */

static bool has_earlier(const struct merge *merge, size_t file, const char *benchmark)
{
	for (size_t i = 0; i < file; i++)
		if (suite_find(merge->documents[i]->suite, benchmark))
			return true;
	return false;
}

/* The benchmarks of this file whose names no file before it has. */
static int write_further_benchmarks(const struct merge *merge, size_t file)
{
	const struct document *document = merge->documents[file];
	struct splice splice = { .emit = merge->emit, .document = document };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < document->suite->n; i++) {
		if (has_earlier(merge, file, document->suite->benchmarks[i]->name))
			continue;
		emit_verbatim(merge->emit, ", ", 2);
		splice.at = document->outline.benchmarks[i].whole.begin;
		r = write_benchmark(merge, &splice, file, i);
	}
	return r;
}

static int write_all(const struct merge *merge)
{
	const struct outline *outline = &merge->documents[0]->outline;
	bool metadata_first = outline->metadata.begin < outline->benchmarks[0].whole.begin;
	struct splice splice = {
		.emit = merge->emit,
		.document = merge->documents[0],
		.at = outline->whole.begin,
	};
	/* The metadata of the suites move to the benchmarks. */
	const struct selection none = { 0 };
	int r = 0;

	if (metadata_first)
		splice_metadata(&splice, outline->whole, outline->metadata, &none);
	for (size_t i = 0; r >= 0 && i < outline->n_benchmarks; i++)
		r = write_benchmark(merge, &splice, 0, i);
	for (size_t i = 1; r >= 0 && i < merge->n; i++)
		r = write_further_benchmarks(merge, i);
	if (r < 0)
		return r;
	if (!metadata_first)
		splice_metadata(&splice, outline->whole, outline->metadata, &none);
	splice_copy(&splice, outline->whole.end);
	return emit_finish(merge->emit);
}

int document_merge(FILE *stream, struct document *const *documents, size_t n, char **ret_why)
{
	struct emit emit = { .stream = stream, .one_line = true };
	const struct merge merge = { .documents = documents, .n = n, .emit = &emit };
	int r = 0;

	for (size_t i = 1; r >= 0 && i < n; i++)
		r = check_file(&merge, i, ret_why);
	return r < 0 ? r : write_all(&merge);
}
