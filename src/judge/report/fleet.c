// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/fleet.h"
#include "judge/result/metadata.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

/* --- The sittings --- */

static const char *first_text(
	const struct provenance *provenance, enum sitting_text first, enum sitting_text last)
{
	for (enum sitting_text i = first; i <= last; i++)
		if (provenance->texts[i])
			return provenance->texts[i];
	return "";
}

static const char *find_text(const struct benchmark *b, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = facts_find_string(&b->metadata, keys[i]);

		if (text)
			return text;
	}
	return "";
}

size_t fleet_describe_sitting(const struct benchmark *b, size_t at, struct fleet_sitting *ret)
{
	static const char *const nodes[] = { METADATA_GIVEN_NODE, METADATA_NODE, "hostname" };
	static const char *const models[] = { "cpu_model_name" };
	static const char *const layouts[] = { METADATA_LAYOUT };
	const struct provenance *provenance;

	if (b->series->n_sittings == 0) {
		*ret = (struct fleet_sitting){
			.node = find_text(b, nodes, ARRAY_SIZE(nodes)),
			.model = find_text(b, models, ARRAY_SIZE(models)),
			.layout = find_text(b, layouts, ARRAY_SIZE(layouts)),
			.id = facts_find_string(&b->metadata, METADATA_SITTING),
		};
		return b->series->n_samples;
	}
	provenance = &b->series->sittings[at].provenance;
	*ret = (struct fleet_sitting){
		.node = first_text(provenance, SITTING_GIVEN_NODE, SITTING_HOSTNAME),
		.model = first_text(provenance, SITTING_OWN_MODEL, SITTING_MODEL),
		.layout = first_text(provenance, SITTING_LAYOUT, SITTING_LAYOUT),
		.id = provenance->texts[SITTING_ID],
		.has_seed = provenance->has_order_seed,
		.seed = provenance->order_seed,
	};
	return b->series->sittings[at].end;
}

size_t fleet_count_sittings(const struct benchmark *b)
{
	return MAX(b->series->n_sittings, (size_t)1);
}

static int compare_machines(const struct fleet_sitting *a, const struct fleet_sitting *b)
{
	int order = strcmp(a->node, b->node);

	if (order == 0)
		order = strcmp(a->model, b->model);
	return order != 0 ? order : strcmp(a->layout, b->layout);
}

bool fleet_is_same_machine(const struct fleet_sitting *a, const struct fleet_sitting *b)
{
	return compare_machines(a, b) == 0;
}

enum fleet_level fleet_find_level(const struct benchmark *const *results, size_t n)
{
	struct fleet_sitting first = { 0 }, sitting;
	enum fleet_level level = FLEET_NONE;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < fleet_count_sittings(results[i]); k++) {
			(void)fleet_describe_sitting(results[i], k, &sitting);
			if (i == 0 && k == 0)
				first = sitting;
			if (strcmp(first.layout, sitting.layout) != 0)
				level = FLEET_LAYOUTS;
			sitting.layout = first.layout;
			if (!fleet_is_same_machine(&first, &sitting))
				return FLEET_MACHINES;
		}
	}
	return level;
}

bool fleet_is_needed(const struct benchmark *const *results, size_t n)
{
	return fleet_find_level(results, n) != FLEET_NONE;
}

/* Sittings without a name are sittings of their own. */
static bool is_same_sitting(const struct fleet_sitting *a, const struct fleet_sitting *b)
{
	return fleet_is_same_machine(a, b) && a->id && b->id && strcmp(a->id, b->id) == 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct fleet_sitting *x = a, *y = b;
	int order = compare_machines(x, y);

	if (order == 0)
		order = strcmp(x->id ? x->id : "", y->id ? y->id : "");
	return order != 0 ? order : (x->piece > y->piece) - (x->piece < y->piece);
}

size_t fleet_count_machines(const struct benchmark *b)
{
	size_t n = fleet_count_sittings(b), n_machines = 1;
	_cleanup_free_ struct fleet_sitting *sittings = xptr(calloc(n, sizeof(*sittings)));

	for (size_t i = 0; i < n; i++) {
		(void)fleet_describe_sitting(b, i, &sittings[i]);
		sittings[i].layout = "";
	}
	qsort(sittings, n, sizeof(*sittings), compare_ids);
	for (size_t i = 1; i < n; i++)
		n_machines += !fleet_is_same_machine(&sittings[i - 1], &sittings[i]);
	return n_machines;
}

static int compare_sittings(const void *a, const void *b)
{
	const struct fleet_sitting *x = a, *y = b;
	int order = compare_machines(x, y);

	if (order == 0)
		order = (x->order > y->order) - (x->order < y->order);
	return order != 0 ? order : (x->piece > y->piece) - (x->piece < y->piece);
}

/* Sorts the sittings, and puts the pieces of a sitting behind its first piece. Returns whether a
 * sitting has several pieces. */
static bool sort_pieces(struct fleet *fleet)
{
	bool any = false;

	qsort(fleet->sittings, fleet->n, sizeof(*fleet->sittings), compare_ids);
	for (size_t i = 1; i < fleet->n; i++) {
		if (!is_same_sitting(&fleet->sittings[i - 1], &fleet->sittings[i]))
			continue;
		fleet->sittings[i].order = fleet->sittings[i - 1].order;
		any = true;
	}
	qsort(fleet->sittings, fleet->n, sizeof(*fleet->sittings), compare_sittings);
	return any;
}

/* Joins the pieces of each sitting. */
static void join_pieces(struct fleet *fleet)
{
	double *logarithms;
	size_t n = 0, at = 0;

	if (!sort_pieces(fleet))
		return;
	for (size_t i = 0; i < fleet->n; i++)
		at += fleet->sittings[i].n;
	logarithms = xptr(reallocarray(NULL, at, sizeof(*logarithms)));
	at = 0;
	for (size_t i = 0; i < fleet->n; i++) {
		struct fleet_sitting piece = fleet->sittings[i];

		memcpy(logarithms + at, piece.logarithms, piece.n * sizeof(*logarithms));
		piece.logarithms = logarithms + at;
		at += piece.n;
		if (n > 0 && is_same_sitting(&fleet->sittings[n - 1], &piece))
			fleet->sittings[n - 1].n += piece.n;
		else
			fleet->sittings[n++] = piece;
	}
	fleet->n = n;
	free(fleet->logarithms);
	fleet->logarithms = logarithms;
}

/* The logarithm of the unit of each run that counts. A single run has the median of its values. */
static int make_logarithms(const struct benchmark *b, double *logarithms)
{
	_cleanup_free_ double *units = NULL;
	size_t n = 0;
	int r = benchmark_units(b, &units, &n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (!(units[i] > 0))
			return -ERANGE;
		logarithms[i] = log(units[i]);
	}
	if (!benchmark_units_are_runs(b)) {
		stats_sort(logarithms, n);
		logarithms[0] = stats_median(logarithms, n);
	}
	return 0;
}

/* Adds the sittings of one result, whose runs begin at `logarithms`. */
static int add_sittings(struct fleet *fleet, const struct benchmark *b, double *logarithms)
{
	size_t run = 0, at = 0;
	int r = make_logarithms(b, logarithms);

	if (r < 0)
		return r;
	for (size_t i = 0; i < fleet_count_sittings(b); i++) {
		struct fleet_sitting sitting;
		size_t end = fleet_describe_sitting(b, i, &sitting), first = at;

		for (; run < end; run++)
			at += sample_counts(&b->series->samples[run]);
		if (at == first)
			continue;
		if (fleet->level != FLEET_LAYOUTS)
			sitting.layout = "";
		sitting.logarithms = logarithms + first;
		sitting.n = at - first;
		sitting.order = sitting.piece = fleet->n;
		fleet->sittings[fleet->n++] = sitting;
	}
	return 0;
}

int fleet_new(const struct benchmark *const *results, size_t n, enum fleet_level level,
	struct fleet **ret)
{
	_cleanup_(fleet) struct fleet *fleet = xptr(calloc(1, sizeof(*fleet)));
	size_t n_sittings = 0, n_values = 0, at = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		n_sittings += fleet_count_sittings(results[i]);
		n_values += results[i]->n_values;
	}
	fleet->level = level;
	fleet->sittings = xptr(calloc(n_sittings, sizeof(*fleet->sittings)));
	fleet->logarithms = xptr(calloc(MAX(n_values, (size_t)1), sizeof(*fleet->logarithms)));
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = add_sittings(fleet, results[i], fleet->logarithms + at);
		at += results[i]->n_values;
	}
	if (r < 0)
		return r;
	join_pieces(fleet);
	for (size_t i = 0; i < fleet->n; i++)
		fleet->n_machines += i == 0 ||
			!fleet_is_same_machine(&fleet->sittings[i - 1], &fleet->sittings[i]);
	*ret = TAKE_PTR(fleet);
	return 0;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	free(fleet->sittings);
	free(fleet->logarithms);
	free(fleet);
}

void fleet_level_units(const struct benchmark *benchmark, double *units, size_t n)
{
	_cleanup_free_ double *scratch = xptr(reallocarray(NULL, n, sizeof(*scratch)));
	double median = stats_find_median(units, n, scratch);
	size_t run = 0, at = 0;

	for (size_t i = 0; i < benchmark->series->n_sittings; i++) {
		size_t first = at;
		double factor;

		for (; run < benchmark->series->sittings[i].end; run++)
			at += sample_counts(&benchmark->series->samples[run]);
		if (at == first)
			continue;
		factor = median / stats_find_median(units + first, at - first, scratch);
		for (size_t k = first; isfinite(factor) && k < at; k++)
			units[k] *= factor;
	}
}

/* The number of sittings, from `first` on, on the machine of `first`. */
static size_t count_machine(const struct fleet *fleet, size_t first)
{
	size_t n = 1;

	while (first + n < fleet->n &&
		fleet_is_same_machine(&fleet->sittings[first], &fleet->sittings[first + n]))
		n++;
	return n;
}

/* --- Numbers --- */

/* Sorted copies of the runs of two sittings; one allocation, in *ret_a. */
static void sort_runs(const struct fleet_sitting *a, const struct fleet_sitting *b, double **ret_a,
	double **ret_b)
{
	double *x = xptr(reallocarray(NULL, a->n + b->n, sizeof(*x)));

	memcpy(x, a->logarithms, a->n * sizeof(*x));
	memcpy(x + a->n, b->logarithms, b->n * sizeof(*x));
	stats_sort(x, a->n);
	stats_sort(x + a->n, b->n);
	*ret_a = x;
	*ret_b = x + a->n;
}

/* The variance of the mean; NAN when there is one value. */
static double variance_of_mean(const double *values, const double *minus, size_t n)
{
	double mean = 0, squares = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		double value = values[i] - (minus ? minus[i] : 0), delta = value - mean;

		mean += delta / (double)(i + 1);
		squares += delta * (value - mean);
	}
	return squares / (double)(n - 1) / (double)n;
}

/* The median of a sitting. */
static struct nested_value describe_level(const struct fleet_sitting *sitting, size_t group)
{
	_cleanup_free_ double *sorted = xptr(reallocarray(NULL, sitting->n, sizeof(*sorted)));

	memcpy(sorted, sitting->logarithms, sitting->n * sizeof(*sorted));
	stats_sort(sorted, sitting->n);
	return (struct nested_value){
		.group = group,
		.value = stats_median(sorted, sitting->n),
		.run_variance = variance_of_mean(sitting->logarithms, NULL, sitting->n),
		.n_runs = (double)sitting->n,
	};
}

static struct nested_value *make_levels(const struct fleet *fleet)
{
	struct nested_value *values = xptr(calloc(fleet->n, sizeof(*values)));
	size_t group = 0;

	for (size_t i = 0; i < fleet->n; i++) {
		group += i > 0 &&
			!fleet_is_same_machine(&fleet->sittings[i - 1], &fleet->sittings[i]);
		values[i] = describe_level(&fleet->sittings[i], group);
	}
	return values;
}

double *fleet_machine_values(const struct fleet *fleet)
{
	_cleanup_free_ struct nested_value *values = make_levels(fleet);
	double *means = xptr(calloc(fleet->n_machines, sizeof(*means)));

	for (size_t i = 0, end; i < fleet->n; i = end) {
		double mean = 0;

		for (end = i; end < fleet->n && values[end].group == values[i].group; end++)
			mean += (values[end].value - mean) / (double)(end - i + 1);
		means[values[i].group] = exp(mean);
	}
	stats_sort(means, fleet->n_machines);
	return means;
}

int fleet_estimate(const struct fleet *fleet, struct fleet_estimate *ret)
{
	_cleanup_free_ struct nested_value *values = make_levels(fleet);

	int r = nested_compute(values, fleet->n, &ret->nested);

	if (r >= 0)
		ret->level = fleet->level;
	return r;
}

/* --- Two programs --- */

/* The changes, one for each sitting, of the machines that have both programs. */
struct changes {
	struct nested_value *items;
	size_t n;
	size_t n_machines;
	size_t n_sittings[2];
	double inverse_runs; /* the sum of 1 / runs over these sittings */
	bool is_split;
	bool is_joined; /* several sittings were joined to one */
};

static void count_sittings(
	struct changes *changes, int side, const struct fleet_sitting *sittings, size_t n)
{
	changes->n_sittings[side] += n;
	for (size_t i = 0; i < n; i++)
		changes->inverse_runs += 1 / (double)sittings[i].n;
}

/* A difference between `a` runs of one program and `b` runs of another has the same variance as one
 * between this many runs of each. */
static double harmonic_mean(double a, double b)
{
	return 2 / (1 / a + 1 / b);
}

/* Adds a sitting in which both programs were measured. */
static void add_common(
	const struct fleet_sitting *old, const struct fleet_sitting *new, struct changes *changes)
{
	bool in_turn = old->has_seed && new->has_seed && old->seed == new->seed;
	_cleanup_free_ double *a = NULL;
	double *b, variance;

	sort_runs(old, new, &a, &b);
	/* A disturbance of both runs of a pair is not in their difference. */
	variance = in_turn ? variance_of_mean(new->logarithms, old->logarithms, MIN(old->n, new->n))
			   : variance_of_mean(old->logarithms, NULL, old->n) +
			variance_of_mean(new->logarithms, NULL, new->n);
	count_sittings(changes, 0, old, 1);
	count_sittings(changes, 1, new, 1);
	changes->items[changes->n++] = (struct nested_value){
		.group = changes->n_machines,
		.value = shift_estimate(a, old->n, b, new->n),
		.run_variance = variance,
		.n_runs = in_turn ? (double)MIN(old->n, new->n)
				  : harmonic_mean((double)old->n, (double)new->n),
	};
}

/* The mean of every `step`th of n sittings from `first` on. */
static struct nested_value average(
	const struct fleet_sitting *sittings, size_t n, size_t first, size_t step)
{
	struct nested_value mean = { 0 };
	double count = 0;

	for (size_t i = first; i < n; i += step) {
		struct nested_value level = describe_level(&sittings[i], 0);

		count++;
		mean.value += (level.value - mean.value) / count;
		mean.run_variance += level.run_variance;
		mean.n_runs += level.n_runs;
	}
	mean.run_variance /= count * count;
	return mean;
}

/* No sitting has both programs: the first old sitting and the first new one are compared, and so
 * on. Where one side has more sittings, several of them are joined to one. */
static void add_separate(const struct fleet_sitting *old, size_t n_old,
	const struct fleet_sitting *new, size_t n_new, struct changes *changes)
{
	size_t n = MIN(n_old, n_new);

	for (size_t i = 0; i < n; i++) {
		struct nested_value a = average(old, n_old, i, n), b = average(new, n_new, i, n);

		changes->items[changes->n++] = (struct nested_value){
			.group = changes->n_machines,
			.value = b.value - a.value,
			.run_variance = a.run_variance + b.run_variance,
			.n_runs = harmonic_mean(a.n_runs, b.n_runs),
		};
	}
	count_sittings(changes, 0, old, n_old);
	count_sittings(changes, 1, new, n_new);
	changes->is_split = true;
	changes->is_joined = changes->is_joined || n_old != n_new;
}

/* One machine. */
static void add_machine(const struct fleet_sitting *old, size_t n_old,
	const struct fleet_sitting *new, size_t n_new, struct changes *changes)
{
	size_t before = changes->n;

	for (size_t i = 0; i < n_old; i++)
		for (size_t k = 0; k < n_new; k++)
			if (old[i].id && new[k].id && strcmp(old[i].id, new[k].id) == 0)
				add_common(&old[i], &new[k], changes);
	if (changes->n == before)
		add_separate(old, n_old, new, n_new, changes);
	changes->n_machines++;
}

/* Returns how many machines have only one of the two programs. */
static size_t find_changes(
	const struct fleet *old, const struct fleet *new, struct changes *changes)
{
	size_t i = 0, k = 0, left = 0;

	changes->items = xptr(calloc(old->n + new->n, sizeof(*changes->items)));
	while (i < old->n || k < new->n) {
		size_t n_old = i < old->n ? count_machine(old, i) : 0;
		size_t n_new = k < new->n ? count_machine(new, k) : 0;
		int order = n_old == 0 ? 1
			: n_new == 0   ? -1
				       : compare_machines(&old->sittings[i], &new->sittings[k]);

		if (order == 0)
			add_machine(&old->sittings[i], n_old, &new->sittings[k], n_new, changes);
		left += order != 0;
		i += order <= 0 ? n_old : 0;
		k += order >= 0 ? n_new : 0;
	}
	return left;
}

static int compare_others(
	const struct fleet *old, const struct fleet *new, struct fleet_change *ret)
{
	_cleanup_free_ struct nested_value *a = make_levels(old), *b = make_levels(new);
	int r = nested_compare(a, old->n, b, new->n, &ret->nested);

	ret->within = false;
	ret->n_machines[0] = old->n_machines;
	ret->n_machines[1] = new->n_machines;
	ret->n_sittings[0] = old->n;
	ret->n_sittings[1] = new->n;
	ret->is_split = true;
	ret->n_left_out = 0;
	return r;
}

int fleet_compare(const struct fleet *old, const struct fleet *new, struct fleet_change *ret)
{
	struct fleet_change change = { .level = new->level, .within = true };
	struct changes changes = { 0 };
	int r;

	change.n_left_out = find_changes(old, new, &changes);
	r = changes.n_machines < 2 ? compare_others(old, new, &change)
				   : nested_compute(changes.items, changes.n, &change.nested);
	if (r >= 0 && change.within) {
		change.n_machines[0] = change.n_machines[1] = changes.n_machines;
		memcpy(change.n_sittings, changes.n_sittings, sizeof(change.n_sittings));
		change.is_split = changes.is_split;
	}
	change.runs_each = change.nested.runs_each;
	if (change.within && changes.is_joined)
		change.runs_each = (double)(changes.n_sittings[0] + changes.n_sittings[1]) /
			changes.inverse_runs;
	free(changes.items);
	if (r < 0)
		return r;
	*ret = change;
	return 0;
}

double fleet_runs_each(const struct nested *nested, const struct fleet_change *change)
{
	return change ? change->runs_each : nested->runs_each;
}

static size_t scale_runs(size_t runs, double factor)
{
	/* A product that is a whole number except for rounding counts as that number. */
	return (size_t)ceil((double)runs * factor - 1e-9);
}

void fleet_advice(
	const struct nested *nested, const struct fleet_change *change, struct nested_advice *ret)
{
	double factor = fleet_runs_each(nested, change) / nested->runs_each;

	nested_advice(nested, ret);
	ret->runs = scale_runs(ret->runs, factor);
	ret->runs_enough = scale_runs(ret->runs_enough, factor);
}

/* --- Words --- */

const char *fleet_singular(enum fleet_level level)
{
	return level == FLEET_LAYOUTS ? "layout" : "machine";
}

const char *fleet_plural(enum fleet_level level)
{
	return level == FLEET_LAYOUTS ? "layouts" : "machines";
}

static void append_part(struct text *t, const char *level, double deviation)
{
	char share[UNITS_TEXT_SIZE];

	if (!isnan(deviation))
		text_appendf(t, "%s %s", level, units_format_percent(deviation, share));
}

static void append_spread(
	struct text *t, enum fleet_level level, const struct nested_spread *spread)
{
	append_part(t,
		level == FLEET_LAYOUTS		? "between layouts"
			: isnan(spread->values) ? "between machines and sittings"
						: "between machines",
		spread->groups);
	append_part(t, ", sittings", spread->values);
	append_part(t, ", runs", spread->runs);
}

/* "12", or "12 and 9" for two different numbers. */
static void append_counts(struct text *t, const size_t n[static 2], bool two)
{
	text_appendf(t, two ? "%zu and %zu" : "%zu", n[0], n[1]);
}

static void append_size(struct text *t, double runs, const struct nested_advice *advice)
{
	if (runs >= 100 || runs == floor(runs))
		text_appendf(t, " of %.0f run%s", runs, runs == 1 ? "" : "s");
	else
		text_appendf(t, " of %.3g runs", runs);
	if (advice->runs_enough > 0 && (double)advice->runs_enough <= runs / 2)
		text_appendf(t, " (%zu would do)", advice->runs_enough);
}

static void append_advice(struct text *t, enum fleet_level level, const struct nested *nested,
	const struct nested_advice *advice, const struct fleet_change *change)
{
	const char *plural = fleet_plural(level);
	char width[UNITS_TEXT_SIZE];

	text_appendf(t, "+-%s: ", units_format_percent(advice->wanted, width));
	if (advice->groups > 0)
		text_appendf(t, "%zu %s", advice->groups, plural);
	else
		text_appendf(t, "more than %d %s", NESTED_MOST, plural);
	if (change && !change->within)
		text_append(t, " on either side");
	if (advice->values > 0)
		text_appendf(t, ", or %zu sittings %son each", advice->values,
			change && change->is_split ? "of both " : "");
	if (advice->runs > 0)
		text_appendf(t, ", or %zu runs a sitting", advice->runs);
	if (advice->values == 0 && advice->runs == 0 && !isnan(nested->spread.runs))
		text_append(t, "; no number of runs on these");
}

void fleet_append_rows(struct text *t, enum fleet_level level, const struct nested *nested,
	const struct fleet_change *change)
{
	const size_t n_machines[] = { nested->n_groups, 0 }, n_sittings[] = { nested->n_values, 0 };
	struct nested_advice advice;

	fleet_advice(nested, change, &advice);
	text_appendf(t, "  %-10s ", fleet_plural(level));
	append_counts(t, change ? change->n_machines : n_machines, change && !change->within);
	text_append(t, ", in ");
	append_counts(t, change ? change->n_sittings : n_sittings, change && change->is_split);
	text_append(t, " sittings");
	append_size(t, fleet_runs_each(nested, change), &advice);
	if (change && change->n_left_out > 0)
		text_appendf(t, "\n             without %zu %s %s only one of the two programs",
			change->n_left_out,
			change->n_left_out == 1 ? fleet_singular(level) : fleet_plural(level),
			change->n_left_out == 1 ? "that has" : "that have");
	text_append(t, "\n  spread     ");
	append_spread(t, level, &nested->spread);
	if (!isnan(advice.wanted)) {
		text_append(t, "\n  for        ");
		append_advice(t, level, nested, &advice, change);
	}
	text_append(t, "\n");
}
