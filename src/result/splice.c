// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/array.h"
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
	int r;

	if (old) {
		*old = *item;
		return 0;
	}
	r = array_grow(&selection->items, sizeof(*item), selection->n, &selection->capacity);
	if (r == 0)
		selection->items[selection->n++] = *item;
	return r;
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

static void emit_selection(struct emit *emit, const struct selection *selection)
{
	emit_object(emit, NULL);
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
		emit_selection(splice->emit, instead);
		splice->at = metadata.end;
		return;
	}
	if (instead->n == 0)
		return;
	/* The new first member. A comma may follow, because such an object has other members. */
	splice_copy(splice, object.begin + 1);
	emit_verbatim(splice->emit, "\"metadata\": ", strlen("\"metadata\": "));
	emit_selection(splice->emit, instead);
	emit_verbatim(splice->emit, ", ", 2);
}

/* The new metadata of a run, from the members it has now. `scratch` is reused for each run. */
static int select_for_run(
	const struct members *own, const struct benchmark_change *change, struct selection *scratch)
{
	const struct renaming *renaming = change->renamings;
	int r;

	scratch->n = 0;
	r = selection_add_all(scratch, change->moved);
	for (size_t i = 0; r >= 0 && i < own->facts.n; i++)
		if (!selection_find(change->hoisted, own->facts.items[i].name))
			r = selection_add(scratch, own, i);
	for (; renaming && renaming->from; renaming++) {
		struct selection_item *item = find_item(scratch, renaming->from);

		if (item)
			item->name = renaming->to;
	}
	return r;
}

/* A member of an object in a text that the reader has accepted. */
struct member_place {
	const char *name; /* as it is written, without the quotation marks */
	size_t n_name;
	const char *end; /* behind the value */
};

/* The '"' that ends the string whose text begins at `at`. */
static const char *find_quote(const char *at)
{
	for (; *at != '"'; at++)
		at += *at == '\\';
	return at;
}

/* The next member from *at on, which is inside of the object; false behind the last one. */
static bool next_member(const char **at, struct member_place *ret)
{
	const char *p = *at + strcspn(*at, "\"}");
	int depth = 0;

	if (*p == '}')
		return false;
	ret->name = p + 1;
	p = find_quote(p + 1);
	ret->n_name = (size_t)(p - ret->name);
	for (p++; depth > 0 || (*p != ',' && *p != '}'); p++) {
		if (*p == '"')
			p = find_quote(p + 1);
		depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
	}
	*at = p;
	while (strchr(" \t\r\n", p[-1]))
		p--;
	ret->end = p;
	return true;
}

static bool is_name(const struct member_place *member, const char *of)
{
	return *of == *member->name && strncmp(member->name, of, member->n_name) == 0 &&
		!of[member->n_name];
}

static bool is_in(const struct member_place *member, const struct selection *list)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (is_name(member, list->items[i].name))
			return true;
	return false;
}

/* Whether the members that a run keeps can be copied unchanged: none of them is replaced or
 * renamed. */
static bool is_simple(const char *object, const struct benchmark_change *change)
{
	struct member_place member;

	for (const char *at = object + 1; next_member(&at, &member);) {
		/* An escape may be any character. */
		if (memchr(member.name, '\\', member.n_name) || is_in(&member, change->moved))
			return false;
		for (const struct renaming *each = change->renamings; each && each->from; each++)
			if (is_name(&member, each->from))
				return false;
	}
	return true;
}

/* Added members are written in front of the members that the run keeps. */
static void splice_simple(struct splice *splice, const struct run_outline *run,
	const struct benchmark_change *change, const char *added)
{
	struct emit *emit = splice->emit;
	const char *text = splice->document->text;
	const char *glue = *added ? ", " : "";
	struct member_place member;

	splice_copy(splice, run->metadata.begin + 1);
	emit_verbatim(emit, added, strlen(added));
	for (const char *at = text + run->metadata.begin + 1; next_member(&at, &member);) {
		if (is_in(&member, change->hoisted))
			continue;
		emit_verbatim(emit, glue, strlen(glue));
		emit_verbatim(emit, member.name - 1, (size_t)(member.end - member.name + 1));
		glue = ", ";
	}
	splice->at = run->metadata.end - 1;
}

/* The members that are added to each run, as they are written: "a": 1, "b": 2. malloc'd. */
static int render_added(const struct benchmark_change *change, char **ret)
{
	_cleanup_selection_ struct selection none = { 0 };
	_cleanup_free_ char *text = NULL;
	struct members nothing = { 0 };
	struct emit emit = { .one_line = true };
	size_t size;
	int r;

	emit.stream = open_memstream(&text, &size);
	if (!emit.stream)
		return -ENOMEM;
	r = select_for_run(&nothing, change, &none);
	emit_selection(&emit, &none);
	/* When glibc cannot allocate the whole text, it reports this only by a NULL text
	 * (libio/memstream.c). */
	if (fclose(emit.stream) != 0 || r < 0 || emit.error < 0 || !text)
		return r < 0 ? r : -ENOMEM;
	/* Without the braces. */
	*ret = strndup(text + 1, size - 2);
	return *ret ? 0 : -ENOMEM;
}

static void splice_run(struct splice *splice, const struct run_outline *run,
	const struct benchmark_change *change, const char *added, struct selection *scratch)
{
	_cleanup_members_ struct members own = { 0 };
	bool changes = (change->moved && change->moved->n > 0) ||
		(change->hoisted && change->hoisted->n > 0);
	int r;

	if (changes && run->metadata.end > 0 &&
		is_simple(splice->document->text + run->metadata.begin, change)) {
		splice_simple(splice, run, change, added);
	} else if (changes && splice->emit->error == 0) {
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
	_cleanup_selection_ struct selection scratch = { 0 };
	_cleanup_free_ char *added = NULL;
	int r = render_added(change, &added);

	if (r < 0) {
		emit_fail(splice->emit, r);
		return;
	}
	if (change->metadata && has_metadata_first(outline))
		splice_metadata(splice, outline->whole, outline->metadata, change->metadata);
	for (size_t i = 0; i < outline->n_runs; i++)
		splice_run(splice, &outline->runs[i], change, added, &scratch);
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
	_cleanup_selection_ struct selection scratch = { 0 };
	_cleanup_free_ char *added = NULL;
	int r = render_added(change, &added);

	if (r < 0) {
		emit_fail(emit, r);
		return;
	}
	for (size_t i = 0; i < outline->n_runs; i++) {
		emit_verbatim(emit, ",\n", 2);
		splice.at = outline->runs[i].whole.begin;
		splice_run(&splice, &outline->runs[i], change, added, &scratch);
	}
}
