// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/table.h"
#include "setter/show.h"

/* Why a row of what is only kept is there. */
#define KEPT "kept for restore"

/* What is to be shown. Items with the same key become one row for all their CPUs. */
struct item {
	char *key;
	size_t index; /* in the plan, or in what was restored */
	int cpu;      /* -1 for none */
	const struct cpumask *cpus;
};

struct row {
	size_t index;	      /* of its first item */
	size_t n;	      /* items */
	struct cpumask *cpus; /* NULL for items of no CPU */
};

struct rows {
	struct row *rows;
	size_t n;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int compare_keys(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	return r ? r : (x->index > y->index) - (x->index < y->index);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static void free_items(struct item *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(items[i].key);
	free(items);
}

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		cpumask_free(rows->rows[i].cpus);
	free(rows->rows);
}

static int add_cpus(struct row *row, const struct item *item)
{
	int r = 0;

	if (item->cpu < 0)
		return 0;
	if (!row->cpus)
		r = cpumask_new(&row->cpus);
	if (r == 0 && item->cpus)
		cpumask_or(row->cpus, row->cpus, item->cpus);
	else if (r == 0)
		r = cpumask_set(row->cpus, item->cpu);
	return r;
}

/* The rows of the items, which are sorted, in the order in which their first items came. */
static int make_rows(struct item *items, size_t n, struct rows *ret)
{
	struct rows rows = { .rows = calloc(n + 1, sizeof(*rows.rows)) };
	int r = rows.rows ? 0 : -ENOMEM;

	if (r == 0)
		qsort(items, n, sizeof(*items), compare_keys);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (i == 0 || strcmp(items[i].key, items[i - 1].key) != 0)
			rows.rows[rows.n++].index = items[i].index;
		rows.rows[rows.n - 1].n++;
		r = add_cpus(&rows.rows[rows.n - 1], &items[i]);
	}
	if (r < 0) {
		free_rows(&rows);
		return r;
	}
	qsort(rows.rows, rows.n, sizeof(*rows.rows), compare_rows);
	*ret = rows;
	return 0;
}

/* NULL for none; malloc'd. */
static int format_cpus(const struct row *row, char **ret)
{
	*ret = row->cpus ? cpumask_format_list(row->cpus) : NULL;
	return row->cpus && !*ret ? -ENOMEM : 0;
}

/* A value as it is short and easy to read: the chosen word of a choice, and a mask as a list. NULL
 * for NULL; malloc'd. */
static int show_value(enum knob_kind kind, const char *value, char **ret)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	char *shown = NULL;
	int r;

	if (value && kind == KNOB_MASK) {
		r = cpumask_new(&mask);
		if (r < 0)
			return r;
		if (cpumask_parse_hex(value, mask, NULL) == 0) {
			*ret = cpumask_format_list(mask);
			return *ret ? 0 : -ENOMEM;
		}
	}
	if (value) {
		shown = knob_writable(kind, value);
		if (!shown)
			return -ENOMEM;
	}
	*ret = shown;
	return 0;
}

/* --- A plan. --- */

/* Another knob may change it as a side effect: it is looked after, and no more. */
static bool is_kept(const struct knob *knob)
{
	return !knob->settled && !knob->wanted;
}

static bool is_folded(const struct knob *knob, bool verbose)
{
	return knob->fold && (knob_went_well(knob) || is_kept(knob)) && !verbose;
}

static char *plan_key(const struct knob *knob, size_t index, bool verbose)
{
	char *key;
	int n;

	if (is_folded(knob, verbose))
		n = asprintf(&key, "fold\x1f%s\x1f%d", knob->fold,
			is_kept(knob) ? KNOB_NONE : knob->word);
	else if (knob->cpu >= 0 && !verbose)
		n = asprintf(&key, "cpu\x1f%s\x1f%s\x1f%s\x1f%s\x1f%d\x1f%s", knob->name,
			or_empty(knob->wanted), or_empty(knob->now), or_empty(knob->original),
			knob->word, or_empty(knob->note));
	else
		n = asprintf(&key, "one\x1f%zu", index);
	return n < 0 ? NULL : key;
}

static int make_plan_rows(const struct knob_plan *plan, bool verbose, struct rows *ret)
{
	struct item *items = calloc(plan->n + 1, sizeof(*items));
	size_t n = 0;
	int r = items ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		/* What is only kept is of no interest, unless everything is, but for how many. */
		if (is_kept(knob) && !knob->fold && !verbose)
			continue;
		items[n] = (struct item){
			.key = plan_key(knob, i, verbose),
			.index = i,
			.cpu = is_folded(knob, verbose) ? -1 : knob->cpu,
			.cpus = knob->cpus,
		};
		if (!items[n].key)
			r = -ENOMEM;
		else
			n++;
	}
	if (r == 0)
		r = make_rows(items, n, ret);
	free_items(items, n);
	return r;
}

/* Why, for a person: the note, or the error behind the word. malloc'd. */
static char *explain_knob(const struct knob *knob)
{
	if (knob->note)
		return strdup(knob->note);
	/* "unavailable" says as much as "No such file or directory". */
	if (knob->error && knob->error != ENOENT)
		return strdup(strerror(knob->error));
	return strdup("");
}

/* malloc'd; NULL without memory. */
static char *format_fold(const struct knob *knob, size_t n)
{
	char *name;

	return asprintf(&name, "%s (%zu)", knob->fold, n) < 0 ? NULL : name;
}

static int add_fold(struct table *table, const struct knob *knob, size_t n, const char *why)
{
	_cleanup_free_ char *name = format_fold(knob, n);

	if (!name)
		return -ENOMEM;
	return table_add(table,
		(const char *const[]){ name, NULL, NULL, NULL, NULL,
			knob_word_name(is_kept(knob) ? KNOB_NONE : knob->word),
			is_kept(knob) ? KEPT : why });
}

static int add_plan_row(
	struct table *table, const struct row *row, const struct knob *knob, bool verbose)
{
	_cleanup_free_ char *cpus = NULL, *why = explain_knob(knob);
	_cleanup_free_ char *wanted = NULL, *now = NULL, *original = NULL;
	int r;

	if (!why)
		return -ENOMEM;
	if (is_folded(knob, verbose))
		return add_fold(table, knob, row->n, why);
	r = format_cpus(row, &cpus);
	if (r == 0)
		r = show_value(knob->kind, knob->wanted, &wanted);
	if (r == 0)
		r = show_value(knob->kind, knob->now, &now);
	if (r == 0)
		r = show_value(knob->kind, knob->original, &original);
	if (r < 0)
		return r;
	return table_add(table,
		(const char *const[]){
			knob->name, cpus, wanted, now, original, knob_word_name(knob->word), why });
}

static int show_plan_table(const struct knob_plan *plan, bool verbose, FILE *stream)
{
	static const struct table_column columns[] = {
		{ "KNOB", TABLE_WRAP },
		{ "CPUS", TABLE_WRAP },
		{ "WANTED", TABLE_WRAP },
		{ "NOW", TABLE_WRAP },
		{ "ORIGINAL", TABLE_WRAP },
		{ "STATE", 0 },
		{ "WHY", TABLE_WRAP },
	};
	_cleanup_(table) struct table *table = NULL;
	struct rows rows;
	int r;

	r = make_plan_rows(plan, verbose, &rows);
	if (r < 0)
		return r;
	r = table_new("knobs", columns, ARRAY_SIZE(columns), false, stream, &table);
	for (size_t i = 0; r == 0 && i < rows.n; i++)
		r = add_plan_row(table, &rows.rows[i], &plan->knobs[rows.rows[i].index], verbose);
	free_rows(&rows);
	return r < 0 ? r : table_print(table);
}

/* The CPU as JSON has it, NULL for none. */
static const char *format_cpu(int cpu, char *buf, size_t size)
{
	snprintf(buf, size, "%d", cpu);
	return cpu >= 0 ? buf : NULL;
}

/* What is kept of a fold, in one row. */
static int add_kept_folds_json(struct table *table, const struct knob_plan *plan)
{
	struct rows rows;
	int r;

	r = make_plan_rows(plan, false, &rows);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < rows.n; i++) {
		const struct knob *knob = &plan->knobs[rows.rows[i].index];
		_cleanup_free_ char *name = NULL;

		if (!is_kept(knob))
			continue;
		name = format_fold(knob, rows.rows[i].n);
		r = name ? table_add(table,
				   (const char *const[]){
					   name, NULL, NULL, NULL, NULL, NULL, NULL, KEPT })
			 : -ENOMEM;
	}
	free_rows(&rows);
	return r;
}

static int show_plan_json(const struct knob_plan *plan, bool verbose, FILE *stream)
{
	static const struct table_column columns[] = {
		{ "knob", 0 },
		{ "path", 0 },
		{ "cpu", TABLE_NUMBER },
		{ "wanted", 0 },
		{ "now", 0 },
		{ "original", 0 },
		{ "state", 0 },
		{ "why", 0 },
	};
	_cleanup_(table) struct table *table = NULL;
	int r;

	r = table_new("knobs", columns, ARRAY_SIZE(columns), true, stream, &table);
	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		_cleanup_free_ char *why = NULL;
		char cpu[16];

		if (is_kept(knob) && is_folded(knob, verbose))
			continue;
		why = explain_knob(knob);
		if (!why)
			return -ENOMEM;
		r = table_add(table,
			(const char *const[]){ knob->name, knob->path,
				format_cpu(knob->cpu, cpu, sizeof(cpu)), knob->wanted, knob->now,
				knob->original,
				knob->word == KNOB_NONE ? NULL : knob_word_name(knob->word),
				*why ? why : NULL });
	}
	if (r == 0 && !verbose)
		r = add_kept_folds_json(table, plan);
	return r < 0 ? r : table_print(table);
}

int show_plan(const struct knob_plan *plan, bool json, bool verbose, FILE *stream)
{
	return json ? show_plan_json(plan, verbose, stream)
		    : show_plan_table(plan, verbose, stream);
}

/* --- What was restored. --- */

/* Where an item belongs, found for all of them. */
struct place {
	int cpu;
	struct cpumask *cpus;
};

static char *restored_key(const struct restore_row *row, const struct place *place, size_t index)
{
	char *key;
	int n;

	if (place->cpu < 0)
		n = asprintf(&key, "one\x1f%zu", index);
	else
		n = asprintf(&key, "cpu\x1f%s\x1f%s\x1f%s\x1f%d", row->name, row->original,
			or_empty(row->now), row->word);
	return n < 0 ? NULL : key;
}

static int make_restored_rows(
	const struct restore_rows *restored, const struct place *places, struct rows *ret)
{
	struct item *items = calloc(restored->n + 1, sizeof(*items));
	size_t n = 0;
	int r = items ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < restored->n; i++) {
		items[n] = (struct item){
			.key = restored_key(&restored->items[i], &places[i], i),
			.index = i,
			.cpu = places[i].cpu,
			.cpus = places[i].cpus,
		};
		if (!items[n].key)
			r = -ENOMEM;
		else
			n++;
	}
	if (r == 0)
		r = make_rows(items, n, ret);
	free_items(items, n);
	return r;
}

static int add_restored_row(
	struct table *table, const struct row *row, const struct restore_row *restored)
{
	_cleanup_free_ char *cpus = NULL, *original = NULL, *now = NULL;
	int r;

	r = format_cpus(row, &cpus);
	if (r == 0)
		r = show_value(restored->kind, restored->original, &original);
	if (r == 0)
		r = show_value(restored->kind, restored->now, &now);
	if (r < 0)
		return r;
	return table_add(table,
		(const char *const[]){
			restored->name, cpus, original, now, restore_word_name(restored->word) });
}

static int show_restored_table(
	const struct restore_rows *restored, const struct place *places, FILE *stream)
{
	static const struct table_column columns[] = {
		{ "KNOB", TABLE_WRAP },
		{ "CPUS", TABLE_WRAP },
		{ "ORIGINAL", TABLE_WRAP },
		{ "NOW", TABLE_WRAP },
		{ "RESULT", 0 },
	};
	_cleanup_(table) struct table *table = NULL;
	struct rows rows;
	int r;

	r = make_restored_rows(restored, places, &rows);
	if (r < 0)
		return r;
	r = table_new("knobs", columns, ARRAY_SIZE(columns), false, stream, &table);
	for (size_t i = 0; r == 0 && i < rows.n; i++)
		r = add_restored_row(table, &rows.rows[i], &restored->items[rows.rows[i].index]);
	free_rows(&rows);
	return r < 0 ? r : table_print(table);
}

static int show_restored_json(
	const struct restore_rows *restored, const struct place *places, FILE *stream)
{
	static const struct table_column columns[] = {
		{ "knob", 0 },
		{ "path", 0 },
		{ "cpu", TABLE_NUMBER },
		{ "original", 0 },
		{ "now", 0 },
		{ "result", 0 },
	};
	_cleanup_(table) struct table *table = NULL;
	int r;

	r = table_new("knobs", columns, ARRAY_SIZE(columns), true, stream, &table);
	for (size_t i = 0; r == 0 && i < restored->n; i++) {
		const struct restore_row *row = &restored->items[i];
		char cpu[16];

		r = table_add(table,
			(const char *const[]){ row->name, row->path,
				format_cpu(places[i].cpu, cpu, sizeof(cpu)), row->original,
				row->now, restore_word_name(row->word) });
	}
	return r < 0 ? r : table_print(table);
}

int show_restored(const struct restore_rows *restored, bool json, FILE *stream)
{
	_cleanup_free_ struct place *places = calloc(restored->n + 1, sizeof(*places));
	int r = places ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < restored->n; i++)
		r = knob_find_cpus(restored->items[i].path, &places[i].cpu, &places[i].cpus);
	if (r == 0)
		r = json ? show_restored_json(restored, places, stream)
			 : show_restored_table(restored, places, stream);
	for (size_t i = 0; places && i < restored->n; i++)
		cpumask_free(places[i].cpus);
	return r;
}
