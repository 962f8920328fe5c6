// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "result/splice.h"

/* --- Selected metadata --- */

static struct selection_item *find_item(const struct selection *selection, const char *name)
{
	for (size_t i = 0; selection && i < selection->n; i++)
		if (strcmp(selection->items[i].name, name) == 0)
			return &selection->items[i];
	return NULL;
}

const struct selection_item *selection_find(const struct selection *selection, const char *name)
{
	return find_item(selection, name);
}

int selection_add_item(struct selection *selection, const struct selection_item *item)
{
	struct selection_item *old = find_item(selection, item->name);

	if (old) {
		*old = *item;
		return 0;
	}
	if (selection->n == selection->capacity) {
		size_t capacity = MAX(2 * selection->capacity, (size_t)32);
		struct selection_item *items =
			reallocarray(selection->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		selection->items = items;
		selection->capacity = capacity;
	}
	selection->items[selection->n++] = *item;
	return 0;
}

int selection_add(struct selection *selection, const struct members *members, size_t index)
{
	const struct fact *fact = &members->facts.items[index];

	return selection_add_item(selection,
		&(struct selection_item){
			.name = fact->name, .fact = fact, .value = members->values[index] });
}

int selection_add_all(struct selection *selection, const struct selection *other)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && other && i < other->n; i++)
		r = selection_add_item(selection, &other->items[i]);
	return r;
}

void selection_clear(struct selection *selection)
{
	free(selection->items);
	*selection = (struct selection){ 0 };
}

static void emit_selection(struct emit *emit, const char *name, const struct selection *selection)
{
	emit_object(emit, name);
	for (size_t i = 0; i < selection->n; i++) {
		const struct selection_item *item = &selection->items[i];

		emit_copy(emit, item->name, item->value.text, item->value.size);
	}
	emit_close(emit, '}');
}

/* --- Copying --- */

void splice_copy(struct splice *splice, size_t end)
{
	emit_verbatim(splice->emit, splice->document->text + splice->at, end - splice->at);
	splice->at = end;
}

void splice_metadata(struct splice *splice, struct span object, struct span metadata,
	const struct selection *instead)
{
	if (metadata.end > 0) {
		splice_copy(splice, metadata.begin);
		emit_selection(splice->emit, NULL, instead);
		splice->at = metadata.end;
		return;
	}
	if (instead->n == 0)
		return;
	/* The new first member. A comma may follow, because such an object has other members. */
	splice_copy(splice, object.begin + 1);
	emit_verbatim(splice->emit, "\"metadata\": ", strlen("\"metadata\": "));
	emit_selection(splice->emit, NULL, instead);
	emit_verbatim(splice->emit, ", ", 2);
}

/* The new metadata of a run, from the members it has now. `scratch` is reused for each run. */
static int select_for_run(
	const struct members *own, const struct benchmark_change *change, struct selection *scratch)
{
	int r;

	scratch->n = 0;
	r = selection_add_all(scratch, change->moved);
	for (size_t i = 0; r >= 0 && i < own->facts.n; i++)
		if (!selection_find(change->hoisted, own->facts.items[i].name))
			r = selection_add(scratch, own, i);
	return r;
}

static void splice_run(struct splice *splice, const struct run_outline *run,
	const struct benchmark_change *change, struct selection *scratch)
{
	_cleanup_members_ struct members own = { 0 };
	bool changes = (change->moved && change->moved->n > 0) ||
		(change->hoisted && change->hoisted->n > 0);
	int r;

	if (changes && splice->emit->error == 0) {
		r = members_read(splice->document->text, run->metadata, &own);
		if (r >= 0)
			r = select_for_run(&own, change, scratch);
		if (r < 0)
			emit_fail(splice->emit, r);
		else
			splice_metadata(splice, run->whole, run->metadata, scratch);
	}
	splice_copy(splice, run->whole.end);
}

static bool has_metadata_first(const struct benchmark_outline *outline)
{
	return outline->metadata.begin < outline->runs[0].whole.begin;
}

void splice_runs(struct splice *splice, size_t index, const struct benchmark_change *change)
{
	const struct benchmark_outline *outline = &splice->document->outline.benchmarks[index];
	struct selection scratch = { 0 };

	if (change->metadata && has_metadata_first(outline))
		splice_metadata(splice, outline->whole, outline->metadata, change->metadata);
	for (size_t i = 0; i < outline->n_runs; i++)
		splice_run(splice, &outline->runs[i], change, &scratch);
	selection_clear(&scratch);
}

void splice_end_benchmark(
	struct splice *splice, size_t index, const struct benchmark_change *change)
{
	const struct benchmark_outline *outline = &splice->document->outline.benchmarks[index];

	if (change->metadata && !has_metadata_first(outline))
		splice_metadata(splice, outline->whole, outline->metadata, change->metadata);
	splice_copy(splice, outline->whole.end);
}

void splice_further_runs(struct emit *emit, const struct document *document, size_t index,
	const struct benchmark_change *change)
{
	const struct benchmark_outline *outline = &document->outline.benchmarks[index];
	struct splice splice = { .emit = emit, .document = document };
	struct selection scratch = { 0 };

	for (size_t i = 0; i < outline->n_runs; i++) {
		emit_verbatim(emit, ",\n", 2);
		splice.at = outline->runs[i].whole.begin;
		splice_run(&splice, &outline->runs[i], change, &scratch);
	}
	selection_clear(&scratch);
}
