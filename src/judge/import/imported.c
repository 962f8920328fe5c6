// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/lookup.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/harness/benchfmt.h"
#include "judge/harness/quantity.h"
#include "judge/import/imported.h"
#include "judge/result/benchmark.h"
#include "judge/result/emit.h"
#include "judge/result/metadata.h"

enum {
	/* As many as the reader takes. */
	FIGURES_MAX = 64,
	BENCHMARKS_MAX = 10 * 1000,
	LEFT_OUT_MAX = 1000,
};

/* All numbers of one name and benchmark: one for each of its values, NAN where there is none. */
struct numbers {
	char *name;
	char unit[QUANTITY_UNIT_SIZE]; /* a base unit */
	enum better better;
	double step;
	bool is_exact;
	double *items;
	size_t n, capacity;
};

struct value {
	size_t process;
	double iterations;
};

struct item {
	char *name;
	struct facts facts;
	struct value *values;
	size_t n, capacity;
	struct numbers *numbers;
	size_t n_numbers;
};

struct imported {
	const char *tool;
	struct facts facts, left_out;
	struct item *items;
	size_t n, capacity;
	struct lookup by_name; /* where an item is */
	size_t at;	       /* which one was begun last */
	bool is_new;
};

struct imported *imported_new(const char *tool)
{
	struct imported *imported = xptr(calloc(1, sizeof(*imported)));

	imported->tool = tool;
	return imported;
}

static void item_clear(struct item *item)
{
	for (size_t i = 0; i < item->n_numbers; i++) {
		free(item->numbers[i].name);
		free(item->numbers[i].items);
	}
	free(item->numbers);
	free(item->values);
	free(item->name);
	facts_clear(&item->facts);
}

void imported_free(struct imported *imported)
{
	if (!imported)
		return;
	for (size_t i = 0; i < imported->n; i++)
		item_clear(&imported->items[i]);
	free(imported->items);
	lookup_clear(&imported->by_name);
	facts_clear(&imported->facts);
	facts_clear(&imported->left_out);
	free(imported);
}

struct facts *imported_facts(struct imported *imported)
{
	return &imported->facts;
}

struct facts *imported_benchmark_facts(struct imported *imported)
{
	return &imported->items[imported->at].facts;
}

enum better imported_better(const struct imported *imported)
{
	const struct item *item = &imported->items[imported->at];

	return item->n_numbers > 0 ? item->numbers[0].better : BETTER_UNKNOWN;
}

bool imported_is_new(const struct imported *imported)
{
	return imported->is_new;
}

void imported_leave_out(struct imported *imported, const char *name, const char *why)
{
	_cleanup_free_ char *plain = xptr(text_escape_control(name));

	if (imported->left_out.n < LEFT_OUT_MAX)
		facts_set_string(&imported->left_out, plain, why);
	if (imported->left_out.failed)
		xalloc_fail();
}

static size_t find_item(const struct imported *imported, uint64_t hash, const char *name)
{
	size_t step = 0, at;

	while ((at = lookup_next(&imported->by_name, hash, &step)) != SIZE_MAX)
		if (strcmp(imported->items[at].name, name) == 0)
			return at;
	return imported->n;
}

int imported_begin(struct imported *imported, const char *name, size_t process, double iterations,
	char **ret_why)
{
	_cleanup_free_ char *clean = metadata_clean(name);
	uint64_t hash = hash_bytes(HASH_START, clean, strlen(clean));
	size_t at = find_item(imported, hash, clean);
	struct item *item;

	if (!*clean)
		return xrefuse(ret_why, -EINVAL, "a benchmark without a name");
	if (at == BENCHMARKS_MAX)
		return xrefuse(ret_why, -EINVAL, "more than %d benchmarks", BENCHMARKS_MAX);
	imported->is_new = at == imported->n;
	if (imported->is_new) {
		xcheck(array_grow(&imported->items, sizeof(*item), at, &imported->capacity));
		imported->items[imported->n++] = (struct item){ .name = TAKE_PTR(clean) };
		xcheck(lookup_add(&imported->by_name, hash, at));
	}
	imported->at = at;
	item = &imported->items[at];
	xcheck(array_grow(&item->values, sizeof(*item->values), item->n, &item->capacity));
	item->values[item->n++] = (struct value){ process, iterations };
	return 0;
}

/* Finds the numbers of that name, or makes them. */
static struct numbers *find_numbers(struct item *item, const char *name, char **ret_why)
{
	struct numbers *numbers;

	for (size_t i = 0; i < item->n_numbers; i++)
		if (strcmp(item->numbers[i].name, name) == 0)
			return &item->numbers[i];
	if (item->n_numbers == FIGURES_MAX) {
		(void)xrefuse(
			ret_why, -EINVAL, "more than %d figures of one benchmark", FIGURES_MAX);
		return NULL;
	}
	item->numbers =
		xptr(reallocarray(item->numbers, item->n_numbers + 1, sizeof(*item->numbers)));
	numbers = &item->numbers[item->n_numbers++];
	*numbers = (struct numbers){ .name = xptr(strdup(name)) };
	return numbers;
}

int imported_put(struct imported *imported, const struct imported_number *number, char **ret_why)
{
	struct item *item = &imported->items[imported->at];
	_cleanup_free_ char *word = xptr(text_escape_control(number->unit)), *name = NULL;
	struct quantity_unit unit = { .factor = 1, .per = 1 };
	enum better better = number->better;
	struct numbers *numbers;

	/* Units are words here, and texts in files of others. */
	for (char *p = word; *p; p++)
		if (parse_is_blank(*p))
			*p = '_';
	if (*word && quantity_parse_unit(word, &unit) < 0)
		return xrefuse(ret_why, -EINVAL, "'%s' is no unit", word);
	if (better == BETTER_UNKNOWN && !number->is_unknown)
		better = benchfmt_find_better(unit.base);
	name = xptr(text_escape_control(number->name ? number->name : unit.base));
	numbers = find_numbers(item, name, ret_why);
	if (!numbers)
		return -EINVAL;
	if (numbers->n == 0) {
		memcpy(numbers->unit, unit.base, sizeof(numbers->unit));
		numbers->better = better;
	} else if (strcmp(numbers->unit, unit.base) != 0 || numbers->better != better) {
		return xrefuse(
			ret_why, -EINVAL, "%s of %s was in another unit before", name, item->name);
	}
	numbers->is_exact = number->is_exact;
	numbers->step = fmax(numbers->step, quantity_to_base(number->step, &unit));
	while (numbers->n < item->n) {
		xcheck(array_grow(
			&numbers->items, sizeof(*numbers->items), numbers->n, &numbers->capacity));
		numbers->items[numbers->n++] = NAN;
	}
	numbers->items[item->n - 1] = quantity_to_base(number->value, &unit);
	return 0;
}

/* --- The result --- */

static double number_at(const struct numbers *numbers, size_t value)
{
	return value < numbers->n ? numbers->items[value] : NAN;
}

/* Why a result cannot have the benchmark; NULL: it can. */
static const char *find_fault(const struct item *item)
{
	for (size_t i = 0; i < item->n; i++) {
		double value = item->n_numbers > 0 ? number_at(&item->numbers[0], i) : NAN;

		if (!isfinite(value))
			return "(one of its values is not known)";
		if (!(value > 0))
			return "(a value is not above 0)";
	}
	return NULL;
}

/* "each the mean of 2000 iterations" */
static void set_iterations(struct item *item)
{
	double least = INFINITY, most = 0;
	const char *each = item->n > 1 ? "each " : "";

	for (size_t i = 0; i < item->n; i++) {
		least = fmin(least, item->values[i].iterations);
		most = fmax(most, item->values[i].iterations);
	}
	if (!(least > 0) || facts_find(&item->facts, METADATA_AGGREGATE))
		return;
	if (most == 1)
		facts_set_stringf(
			&item->facts, METADATA_AGGREGATE, "%sof a single iteration", each);
	else if (least == most)
		facts_set_stringf(&item->facts, METADATA_AGGREGATE, "%sthe mean of %.0f iterations",
			each, most);
	else
		facts_set_stringf(&item->facts, METADATA_AGGREGATE,
			"%sthe mean of %.0f to %.0f iterations", each, least, most);
}

static bool is_plain_time(const struct numbers *numbers)
{
	const struct unit *unit;

	return unit_find(numbers->unit, &unit) && unit_is_time(unit) &&
		numbers->better == BETTER_LOWER && numbers->step == 0;
}

static void write_metadata(struct emit *emit, struct item *item)
{
	struct facts made = { 0 };
	const struct unit *unit = &unit_integer;

	set_iterations(item);
	(void)unit_find(item->numbers[0].unit, &unit);
	metadata_set_string(&made, "name", item->name);
	facts_set_string(&made, "unit", unit_name(unit));
	for (size_t i = 0; i < item->n_numbers; i++) {
		const struct numbers *numbers = &item->numbers[i];
		_cleanup_free_ char *name = xformat(METADATA_FIGURE "%s", numbers->name);
		struct event_kind kind = figure_kind(
			numbers->unit, numbers->better, numbers->step, numbers->is_exact);
		_cleanup_free_ char *text = figure_text(&kind);

		free(kind.own);
		if (i > 0 || !is_plain_time(numbers))
			facts_set_string(&made, i == 0 ? METADATA_VALUES_FIGURE : name, text);
	}
	facts_add(&made, &item->facts);
	if (made.failed || item->facts.failed)
		xalloc_fail();
	emit_facts(emit, "metadata", &made);
	facts_clear(&made);
}

/* Writes the run of the values from `first` to before `end`. */
static void write_run(struct emit *emit, const struct item *item, size_t first, size_t end)
{
	double loops = INFINITY;

	for (size_t i = first; i < end; i++)
		loops = fmin(loops, item->values[i].iterations);
	emit_object(emit, NULL);
	emit_object(emit, "metadata");
	/* Where they differ, the fewest tell for how long at least a value was measured. */
	if (loops >= 1 && loops < 9e18)
		emit_integer(emit, "loops", (int64_t)loops);
	emit_close(emit, '}');
	emit_array(emit, "values");
	for (size_t i = first; i < end; i++)
		emit_real(emit, NULL, item->numbers[0].items[i]);
	emit_close(emit, ']');
	if (item->n_numbers > 1)
		emit_object(emit, BENCHMARK_FIGURES);
	for (size_t k = 1; k < item->n_numbers; k++) {
		emit_array(emit, item->numbers[k].name);
		for (size_t i = first; i < end; i++)
			emit_real(emit, NULL, number_at(&item->numbers[k], i));
		emit_close(emit, ']');
	}
	if (item->n_numbers > 1)
		emit_close(emit, '}');
	emit_close(emit, '}');
}

static void write_item(struct emit *emit, struct item *item)
{
	emit_object(emit, NULL);
	write_metadata(emit, item);
	emit_array(emit, "runs");
	for (size_t first = 0, end; first < item->n; first = end) {
		end = first + 1;
		while (end < item->n && item->values[end].process == item->values[first].process)
			end++;
		write_run(emit, item, first, end);
	}
	emit_close(emit, ']');
	emit_close(emit, '}');
}

/* Returns how many were written. */
static size_t write_all(struct emit *emit, struct imported *imported)
{
	size_t n = 0;

	emit_object(emit, NULL);
	emit_string(emit, "version", "1.0");
	facts_set_string(&imported->facts, METADATA_TOOL, imported->tool);
	if (imported->facts.failed)
		xalloc_fail();
	emit_facts(emit, "metadata", &imported->facts);
	emit_array(emit, "benchmarks");
	for (size_t i = 0; i < imported->n; i++) {
		struct item *item = &imported->items[i];
		const char *fault = find_fault(item);

		if (fault)
			imported_leave_out(imported, item->name, fault);
		else
			write_item(emit, item);
		n += !fault;
	}
	emit_close(emit, ']');
	emit_close(emit, '}');
	return n;
}

int imported_write(
	struct imported *imported, struct text *ret, struct facts *ret_left_out, char **ret_why)
{
	struct emit emit = { .one_line = true };
	const struct fact *first;
	char *data = NULL;
	size_t size = 0, n;
	int r;

	/* A stream in memory fails for nothing but memory. */
	emit.stream = xptr(open_memstream(&data, &size));
	n = write_all(&emit, imported);
	r = emit_finish(&emit);
	if (fclose(emit.stream) != 0 || !data || r < 0)
		xalloc_fail();
	if (n > 0) {
		*ret = (struct text){ .data = data, .length = size, .capacity = size + 1 };
		*ret_left_out = imported->left_out;
		imported->left_out = (struct facts){ 0 };
		return 0;
	}
	free(data);
	if (imported->left_out.n == 0)
		return xrefuse(
			ret_why, -EINVAL, "no result of %s: it has no values", imported->tool);
	first = &imported->left_out.items[0];
	return xrefuse(ret_why, -ENODATA, "no result of %s: all in it is left out (%s %s)",
		imported->tool, first->name, first->string);
}
