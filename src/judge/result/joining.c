// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/joining.h"
#include "judge/result/metadata.h"
#include "judge/result/runwrite.h"

void joined_reduce(struct facts *common, const struct facts *other)
{
	for (size_t i = common->n; i-- > 0;) {
		const struct fact *fact = &common->items[i], *same = facts_find(other, fact->name);

		if (!same || !metadata_equal_facts(fact, same))
			facts_remove(common, fact->name);
	}
}

static void put(struct emit *emit, const char *text)
{
	emit_verbatim(emit, text, strlen(text));
}

static void emit_json(struct emit *emit, const char *name, const char *json)
{
	emit_copy(emit, name, json, strlen(json));
}

static bool is_common(const struct joined *joined, const char *name)
{
	return joined->common && facts_find(joined->common, name);
}

/* The name under which metadata of a file are written. NULL: they are not, because it has others of
 * the new name. */
static const char *new_name(const struct joined *joined, const struct kept *kept, const char *name)
{
	const struct renaming *renaming = joined->renamings;

	for (; renaming && renaming->from; renaming++)
		if (strcmp(renaming->from, name) == 0)
			return kept_find(kept, renaming->to, false) > 0 ||
					facts_find(&kept->above, renaming->to)
				? NULL
				: renaming->to;
	return name;
}

/* --- The runs of a file --- */

/* Metadata that stood above all runs. */
struct moved {
	const char *name;
	const char *json;
	size_t number; /* of the same name in the runs; 0: none has it */
};

/* How the runs of a strand are written. */
struct shape {
	const char **names; /* by number; NULL: it is left out */
	size_t *written;    /* by number: behind the last run that has it */
	struct moved *moved;
	size_t n_moved;
};

static void shape_clear(struct shape *shape)
{
	free(shape->names);
	free(shape->written);
	free(shape->moved);
}

static inline void cleanup_shape(struct shape *shape)
{
	shape_clear(shape);
}
#define _cleanup_shape_ __attribute__((cleanup(cleanup_shape)))

/* Members of a run that are written from the model, if any are; "samples" before pyperf 1.0. */
static bool is_of_values(const char *member)
{
	static const char *const names[] = { "values", "samples", "warmups" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(member, names[i]) == 0)
			return true;
	return false;
}

static void add_moved(struct shape *shape, const struct joined *joined, const struct kept *kept,
	const char *name, const char *json)
{
	const char *new = new_name(joined, kept, name);

	if (new &&json)
		shape->moved[shape->n_moved++] =
			(struct moved){ new, json, kept_find(kept, name, false) };
}

static void make_shape(const struct joined *joined, const struct strand *strand, struct shape *ret)
{
	const struct kept *kept = strand->kept;

	ret->names = xptr(calloc(kept->n_names, sizeof(*ret->names)));
	ret->written = xptr(calloc(kept->n_names, sizeof(*ret->written)));
	ret->moved = xptr(calloc(kept->above.n + 1, sizeof(*ret->moved)));
	for (size_t i = 1; i < kept->n_names; i++) {
		const char *name = kept->names[i].name;

		if (kept->names[i].is_member)
			ret->names[i] = strand->inside && is_of_values(name) ? NULL : name;
		else if (!is_common(joined, name))
			ret->names[i] = new_name(joined, kept, name);
	}
	for (size_t i = 0; joined->stays && i < kept->above.n; i++) {
		const struct fact *fact = &kept->above.items[i];

		/* A sitting that is no text is none. */
		if (!facts_find(joined->stays, fact->name) &&
			(!strand->sitting || strcmp(fact->name, METADATA_SITTING) != 0))
			add_moved(ret, joined, kept, fact->name, fact->string);
	}
	add_moved(ret, joined, kept, METADATA_SITTING, strand->sitting);
}

static void write_members(struct emit *emit, const struct kept_walk *run, const struct shape *shape)
{
	size_t number;

	for (const char *order = run->order; (number = kept_walk_name(&order)) > 0;)
		if (run->kept->names[number].is_member && shape->names[number])
			emit_json(emit, shape->names[number], run->values[number]);
}

/* `at` is the number of the run. */
static void write_metadata(
	struct emit *emit, const struct kept_walk *run, const struct shape *shape, size_t at)
{
	size_t number;

	emit_object(emit, "metadata");
	for (const char *order = run->order; (number = kept_walk_name(&order)) > 0;)
		shape->written[number] = at + 1;
	for (size_t i = 0; i < shape->n_moved; i++)
		if (shape->written[shape->moved[i].number] != at + 1)
			emit_json(emit, shape->moved[i].name, shape->moved[i].json);
	for (const char *order = run->order; (number = kept_walk_name(&order)) > 0;)
		if (!run->kept->names[number].is_member && shape->names[number])
			emit_json(emit, shape->names[number], run->values[number]);
	emit_close(emit, '}');
}

static void write_kept(struct emit *emit, const struct joined *joined, const struct strand *strand,
	bool others_precede)
{
	_cleanup_kept_walk_ struct kept_walk run = { .kept = strand->kept };
	_cleanup_shape_ struct shape shape = { 0 };

	make_shape(joined, strand, &shape);
	for (size_t i = 0; emit->error == 0 && i < strand->kept->n_runs; i++) {
		kept_walk_next(&run);
		put(emit, others_precede || i > 0 ? ",\n" : "\n");
		emit_object(emit, NULL);
		if (strand->inside)
			runs_write_values(emit, strand->inside, i);
		write_members(emit, &run, &shape);
		write_metadata(emit, &run, &shape, i);
		emit_close(emit, '}');
	}
}

/* --- New runs --- */

static void write_new(struct emit *emit, const struct joined *joined, const struct strand *strand,
	bool others_precede)
{
	struct facts carried = { 0 };

	for (size_t i = 0; joined->common && i < strand->metadata->n; i++) {
		const struct fact *fact = &strand->metadata->items[i];

		if (!is_common(joined, fact->name))
			facts_set_copy(&carried, fact->name, fact);
	}
	if (carried.failed)
		xalloc_fail();
	runs_write(emit, strand->series, strand->inside, &carried, others_precede);
	facts_clear(&carried);
}

/* --- A benchmark --- */

/* Writes what all runs share, as the first run of the file has it. */
static void write_above(struct emit *emit, const struct joined *joined)
{
	const struct strand *strand = &joined->strands[0];
	const struct kept *kept = strand->kept;
	_cleanup_kept_walk_ struct kept_walk run = { .kept = kept };
	size_t number;

	if (!kept) {
		emit_facts(emit, "metadata", joined->common ? joined->common : strand->metadata);
		return;
	}
	kept_walk_next(&run);
	emit_object(emit, "metadata");
	for (size_t i = 0; i < kept->above.n; i++) {
		const struct fact *fact = &kept->above.items[i];
		size_t own = kept_find(kept, fact->name, false);
		bool run_tells = own > 0 && run.values[own] && is_common(joined, fact->name);

		if (!joined->stays || facts_find(joined->stays, fact->name))
			emit_json(emit, fact->name, run_tells ? run.values[own] : fact->string);
	}
	for (const char *order = run.order; (number = kept_walk_name(&order)) > 0;) {
		const struct kept_name *name = &kept->names[number];

		if (!name->is_member && is_common(joined, name->name) &&
			!facts_find(&kept->above, name->name))
			emit_json(emit, name->name, run.values[number]);
	}
	emit_close(emit, '}');
}

static void write_other_members(struct emit *emit, const struct facts *members)
{
	for (size_t i = 0; members && i < members->n; i++) {
		put(emit, ", ");
		emit_json(emit, members->items[i].name, members->items[i].string);
	}
}

int joined_write(struct emit *emit, const struct joined *joined)
{
	put(emit, "{");
	write_above(emit, joined);
	put(emit, ", \"runs\": [");
	for (size_t i = 0; i < joined->n; i++) {
		if (joined->strands[i].kept)
			write_kept(emit, joined, &joined->strands[i], i > 0);
		else
			write_new(emit, joined, &joined->strands[i], i > 0);
	}
	put(emit, "]");
	write_other_members(emit, joined->members);
	put(emit, "}");
	return emit->error;
}

void joined_begin_file(struct emit *emit)
{
	put(emit, "{\"version\": \"1.0\", \"benchmarks\": [");
}

void joined_separate(struct emit *emit, size_t n_before)
{
	if (n_before > 0)
		put(emit, ", ");
}

int joined_end_file(struct emit *emit, const struct facts *members)
{
	put(emit, "]");
	write_other_members(emit, members);
	put(emit, "}");
	return emit_finish(emit);
}
