// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "library/values.h"
#include "measure/progvalues.h"
#include "measure/runvalues.h"

struct item {
	char *name;
	const char *clock; /* a static text */
	double empty;	   /* seconds */
	double resolution;
	bool clock_changed; /* in any run */
	/* Over the values that count: sums of the shares, and the number of those that are known.
	 */
	double empty_shares;
	double waiting;
	size_t n_waiting;
	/* The sums of the figures that the program set in runs that count, and how many were added.
	 */
	size_t n_figures;
	struct qs_figure figures[QS_MAX_FIGURES];
	size_t figure_times[QS_MAX_FIGURES];
	struct runvalues values;
};

struct progvalues {
	struct item *items[PROGVALUES_MAX_NAMES];
	size_t n;
	size_t n_values;
	/* Of the run that was taken last: the sum over its values, and their number. */
	double core_adds;
	size_t n_core_adds;
};

struct progvalues *progvalues_new(void)
{
	return xptr(calloc(1, sizeof(struct progvalues)));
}

static void item_free(struct item *item)
{
	if (!item)
		return;
	free(item->values.benchmark.name);
	runvalues_clear(&item->values);
	free(item->name);
	free(item);
}

void progvalues_free(struct progvalues *progvalues)
{
	if (!progvalues)
		return;
	for (size_t i = 0; i < progvalues->n; i++)
		item_free(progvalues->items[i]);
	free(progvalues);
}

double progvalues_core_adds(const struct progvalues *progvalues)
{
	return progvalues->n_core_adds > 0 ? progvalues->core_adds / (double)progvalues->n_core_adds
					   : 0;
}

size_t progvalues_count_values(const struct progvalues *progvalues)
{
	return progvalues->n_values;
}

size_t progvalues_count(const struct progvalues *progvalues)
{
	return progvalues->n;
}

static int find_item(
	struct progvalues *progvalues, const struct qs_values *values, struct item **ret)
{
	struct item *item;

	for (size_t i = 0; i < progvalues->n; i++) {
		if (strcmp(progvalues->items[i]->name, values->name) == 0) {
			*ret = progvalues->items[i];
			return 0;
		}
	}
	if (progvalues->n == PROGVALUES_MAX_NAMES)
		return -E2BIG;
	item = xptr(calloc(1, sizeof(*item)));
	item->name = xptr(strdup(values->name));
	item->clock = values->facts.clock_name;
	/* The parser of values gives ticks of a picosecond. */
	item->empty = values->facts.empty_mean_ticks / 1e12;
	item->resolution = (double)values->facts.resolution_ticks / 1e12;
	item->values.inner_loops = values->inner_loops;
	progvalues->items[progvalues->n++] = item;
	*ret = item;
	return 0;
}

/* By name. A program may use other names in each run: those beyond QS_MAX_FIGURES are left out. */
static void add_figures(struct item *item, const struct qs_values *values)
{
	for (size_t i = 0; i < values->n_figures; i++) {
		const struct qs_figure *figure = &values->figures[i];
		size_t at = 0;

		while (at < item->n_figures && strcmp(item->figures[at].name, figure->name) != 0)
			at++;
		if (at == QS_MAX_FIGURES)
			continue;
		if (at == item->n_figures) {
			item->figures[item->n_figures++] = *figure;
		} else {
			item->figures[at].kind = figure->kind;
			item->figures[at].value += figure->value;
		}
		item->figure_times[at]++;
	}
}

static int append(struct item *item, const struct qs_values *values, bool warmup)
{
	for (size_t i = 0; i < values->n_values; i++) {
		const struct qs_value *value = &values->values[i];
		bool counts = !warmup && value->kind == QS_VALUE_COUNTED;
		double seconds = qs_value_seconds(values, i);
		int r = counts ? runvalues_add(&item->values, seconds)
			       : runvalues_add_warmup(&item->values, value->loops, seconds);

		if (r < 0)
			return r;
		if (!counts)
			continue;
		item->empty_shares += qs_value_empty_share(values, i);
		item->waiting += MAX(value->waiting, 0.0);
		item->n_waiting += value->waiting >= 0;
	}
	if (!warmup)
		add_figures(item, values);
	return 0;
}

/* Adds the values of one block. */
static int take_one(
	struct progvalues *progvalues, size_t run, bool warmup, const struct qs_values *values)
{
	struct item *item;
	int r;

	if (values->n_values > PROGVALUES_MAX_VALUES - progvalues->n_values)
		return -E2BIG;
	r = find_item(progvalues, values, &item);
	if (r < 0)
		return r;
	/* All values of a benchmark must be of the same kind of work and by the same clock. */
	if (values->inner_loops != item->values.inner_loops ||
		strcmp(values->facts.clock_name, item->clock) != 0)
		return -EXDEV;
	r = runvalues_reach_run(&item->values, run);
	if (r == 0)
		r = append(item, values, warmup);
	item->clock_changed = item->clock_changed || values->facts.clock_changed;
	if (r < 0)
		return r;
	runvalues_end_run(&item->values, run, values->loops);
	progvalues->n_values += values->n_values;
	for (size_t i = 0; i < values->n_values; i++) {
		progvalues->core_adds += values->values[i].core_adds;
		progvalues->n_core_adds += values->values[i].core_adds > 0;
	}
	return 0;
}

static int refuse(int error, size_t block, size_t line, char **ret_why)
{
	if (error == -EBADMSG)
		return text_refuse(ret_why, -EBADMSG,
			"line %zu of block %zu is not as it has to be", line, block);
	if (error == -E2BIG)
		return text_refuse(ret_why, -EBADMSG, "more than %d values or %d names",
			(int)PROGVALUES_MAX_VALUES, (int)PROGVALUES_MAX_NAMES);
	if (error == -EXDEV)
		return text_refuse(ret_why, -EBADMSG,
			"block %zu has other inner loops, or another clock, than earlier ones",
			block);
	return error;
}

int progvalues_take(struct progvalues *progvalues, size_t run, bool warmup, const char *text,
	size_t size, char **ret_why)
{
	size_t offset = 0, line = 0;

	progvalues->core_adds = 0;
	progvalues->n_core_adds = 0;
	for (size_t block = 1;; block++) {
		struct qs_values *values;
		int r;

		r = values_parse(text, size, &offset, &values, &line);
		if (r == 1)
			return 0;
		if (r == 0) {
			r = take_one(progvalues, run, warmup, values);
			qs_values_free(values);
		}
		if (r < 0)
			return refuse(r, block, line, ret_why);
	}
}

struct benchmark *progvalues_get_benchmark(struct progvalues *progvalues, size_t i,
	struct series *series, const struct facts *metadata, const char *prefix)
{
	struct item *item = progvalues->items[i];
	struct benchmark *b = &item->values.benchmark;

	if (b->n_values == 0)
		return NULL;
	runvalues_conclude(&item->values, series, metadata);
	free(b->name);
	b->name = xformat("%s%s%s", prefix ? prefix : "", prefix ? ": " : "", item->name);
	facts_set_string(&b->metadata, "name", b->name);
	facts_set_integer(&b->metadata, "inner_loops", item->values.inner_loops);
	facts_set_string(&b->metadata, "timer", item->clock);
	facts_set_string(&b->metadata, "quiesce_stamps", item->clock);
	facts_set_real(&b->metadata, "quiesce_stamps_empty", item->empty);
	facts_set_real(&b->metadata, "quiesce_stamps_resolution", item->resolution);
	facts_set_real(&b->metadata, "quiesce_stamps_empty_share",
		item->empty_shares / (double)b->n_values);
	if (item->clock_changed)
		facts_set_integer(&b->metadata, "quiesce_clock_changed", 1);
	if (item->n_waiting > 0)
		facts_set_real(
			&b->metadata, "quiesce_waiting", item->waiting / (double)item->n_waiting);
	for (size_t figure = 0; figure < item->n_figures; figure++) {
		char key[80];

		snprintf(key, sizeof(key), "quiesce_%s_%.39s",
			item->figures[figure].kind == QS_FIGURE_AMOUNT ? "amount" : "figure",
			item->figures[figure].name);
		facts_set_real(&b->metadata, key,
			item->figures[figure].value / (double)item->figure_times[figure]);
	}
	if (b->metadata.failed)
		xalloc_fail();
	return b;
}
