// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "report/compare.h"
#include "result/metadata.h"
#include "stats/level.h"
#include "stats/shift.h"

/* The probability of finding a difference where there is none. */
#define SIGNIFICANCE 0.05

/* What has to be equal for two results to be from the same machine in the same state; the most
 * important keys first. */
static const char *const machine_keys[] = {
	"hostname",
	"cpu_model_name",
	"cpu_machine",
	"cpu_count",
	"platform",
	"quiesce_kernel",
	"quiesce_virtualization",
	"quiesce_clock",
	"quiesce_clocksource",
	"quiesce_governor",
	"quiesce_boost",
	"quiesce_epp",
	"cpu_config",
	"cpu_freq",
	"cpu_affinity",
	"quiesce_cpus",
	"quiesce_isolated",
	"quiesce_partitions",
	"quiesce_nohz_full",
	"quiesce_smt",
	"quiesce_thp",
	"quiesce_mitigations",
	"quiesce_cmdline",
	"quiesce_power_supply",
	"aslr",
	"quiesce_env_padding",
	"quiesce_nice",
	"quiesce_fifo",
	"quiesce_environment",
	"inner_loops",
	"python_implementation",
	"python_version",
};

static const char *const verdict_names[] = {
	[VERDICT_SAME] = "same",
	[VERDICT_FASTER] = "faster",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_UNCLEAR] = "unclear",
};

/* Settings that a result of runpinned mentions only when they are set. */
static bool is_set_or_not(const char *key)
{
	static const char *const keys[] = { "quiesce_isolated", "quiesce_partitions",
		"quiesce_nohz_full", "quiesce_nice", "quiesce_fifo", "quiesce_environment" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* A key that is missing in one result is no difference, except for settings that are left out
 * because they are not set. */
static int find_differences(struct comparison *c)
{
	const struct benchmark *old = c->old, *new = c->new;
	bool both_ours = facts_find(&old->metadata, "quiesce_version") &&
		facts_find(&new->metadata, "quiesce_version");

	c->differences = calloc(ARRAY_SIZE(machine_keys), sizeof(*c->differences));
	if (!c->differences)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(machine_keys); i++) {
		const char *key = machine_keys[i];
		const struct fact *a = facts_find(&old->metadata, key);
		const struct fact *b = facts_find(&new->metadata, key);
		_cleanup_free_ char *from = NULL, *to = NULL, *line = NULL;
		char *plain;
		int r;

		if (a && b ? metadata_equal_facts(a, b)
			   : (a == b || !both_ours || !is_set_or_not(key)))
			continue;
		r = benchmark_metadata_text(old, key, &from);
		if (r >= 0)
			r = benchmark_metadata_text(new, key, &to);
		if (r < 0)
			return r;
		if (asprintf(&line, "%s: %s -> %s", key, from ? from : "none", to ? to : "none") <
			0) {
			line = NULL;
			return -ENOMEM;
		}
		plain = text_escape_control(line);
		if (!plain)
			return -ENOMEM;
		c->differences[c->n_differences++] = plain;
	}
	return 0;
}

/* The range from the lowest to the highest level of a series, with its drift. */
struct range {
	double low;
	double high;
	const char *how; /* "jump", "drift", "jump and drift"; NULL when there is only one level */
};

static struct range find_range(const struct levels *levels)
{
	struct range range = { INFINITY, -INFINITY, NULL };

	for (size_t i = 0; i < levels->n; i++) {
		range.low = MIN(range.low, levels->items[i].median);
		range.high = MAX(range.high, levels->items[i].median);
	}
	if (levels->n > 1)
		range.how = "jump";
	if (levels->drift != 0) {
		range.how = levels->n > 1 ? "jump and drift" : "drift";
		range.low -= fabs(levels->drift) / 2;
		range.high += fabs(levels->drift) / 2;
	}
	return range;
}

/* "the data are not stable: the old ones jump between 11.0 ms and 20.3 ms" */
static int explain_unstable(const struct range ranges[2], enum unit unit, char **ret)
{
	static const char *const sides[] = { "old", "new" };
	_cleanup_text_ struct text t = { 0 };
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	text_append(&t, "the data are not stable:");
	for (int i = 0; i < 2; i++) {
		struct scale scale;

		if (!ranges[i].how)
			continue;
		scale = scale_refine(scale_choose_unit(unit, ranges[i].high), 1);
		text_appendf(&t, "%s the %s ones %s between %s and %s",
			i == 1 && ranges[0].how ? ", and" : "", sides[i], ranges[i].how,
			scale_format(scale, ranges[i].low, a),
			scale_format(scale, ranges[i].high, b));
	}
	*ret = text_steal(&t);
	return *ret ? 0 : -ENOMEM;
}

static int explain_single(const struct comparison *c, char **ret)
{
	if (benchmark_units_are_runs(c->old) && c->old_stats.n > 1 &&
		benchmark_units_are_runs(c->new) && c->new_stats.n > 1)
		return 0;
	*ret = strdup("how much runs differ is not known from a single one");
	return *ret ? 0 : -ENOMEM;
}

/* --- Who was run in turn with whom --- */

enum {
	SEEDS_MAX = UINT8_MAX + 1,
};

/* The seeds of the orders in which runs of a benchmark were made, each of them once. All runs of
 * one measurement have the same; runs that were appended to a file have another one, or none. */
struct seeds {
	int64_t items[SEEDS_MAX];
	size_t n;
};

static void collect_seeds(const struct benchmark *benchmark, struct seeds *ret)
{
	const struct series *series = benchmark->series;
	const struct fact *fact = facts_find(&benchmark->metadata, "quiesce_order_seed");

	for (ret->n = 0; ret->n < series->n_order_seeds; ret->n++)
		ret->items[ret->n] = series->order_seeds[ret->n];
	/* A benchmark that was just measured has it in its metadata alone. */
	if (ret->n == 0 && fact && fact->type == FACT_INTEGER)
		ret->items[ret->n++] = fact->integer;
}

static bool has_seed(const struct benchmark *benchmark, size_t run, int64_t seed)
{
	const struct series *series = benchmark->series;
	const struct fact *fact;

	if (series->n_order_seeds > 0)
		return series->samples[run].turn > 0 &&
			series->order_seeds[series->samples[run].turn - 1] == seed;
	fact = facts_find(&benchmark->metadata, "quiesce_order_seed");
	return fact && fact->type == FACT_INTEGER && fact->integer == seed;
}

/* The user may give the same seed to measurements on different days. */
static bool could_be_together(const struct benchmark *old, const struct benchmark *new)
{
	if (!benchmark_units_are_runs(old) || !benchmark_units_are_runs(new))
		return false;
	return !old->has_dates || !new->has_dates ||
		(old->first_date <= new->last_date &&new->first_date <= old->last_date);
}

/* The seeds that runs of both have. */
static void find_common_seeds(
	const struct benchmark *old, const struct benchmark *new, struct seeds *ret)
{
	struct seeds a, b;

	ret->n = 0;
	if (!could_be_together(old, new))
		return;
	collect_seeds(old, &a);
	collect_seeds(new, &b);
	for (size_t i = 0; i < a.n; i++)
		for (size_t k = 0; k < b.n; k++)
			if (a.items[i] == b.items[k])
				ret->items[ret->n++] = a.items[i];
}

bool comparison_is_in_turn(const struct benchmark *old, const struct benchmark *new)
{
	struct seeds seeds;

	find_common_seeds(old, new, &seeds);
	return seeds.n > 0;
}

/* Copies the units of runs of that seed to the front of ret. */
static size_t pick_units(
	const struct benchmark *benchmark, const double *units, int64_t seed, double *ret)
{
	size_t n = 0, unit = 0;

	for (size_t i = 0; i < benchmark->series->n_samples; i++) {
		if (benchmark->series->samples[i].warmup)
			continue;
		if (has_seed(benchmark, i, seed))
			ret[n++] = units[unit];
		unit++;
	}
	return n;
}

/*
 * Reduces the units of both to those of runs that were made in turn, pair by pair. Runs that were
 * measured by themselves, as those that were appended later, are left out, and so is a run that has
 * no partner because the last round was not finished.
 */
static int pick_pairs(const struct comparison *c, double *old, double *new, size_t *ret_n)
{
	_cleanup_free_ double *a = reallocarray(NULL, c->old->n_values, sizeof(*a));
	_cleanup_free_ double *b = reallocarray(NULL, c->new->n_values, sizeof(*b));
	struct seeds seeds;
	size_t n = 0;

	if (!a || !b)
		return -ENOMEM;
	find_common_seeds(c->old, c->new, &seeds);
	for (size_t i = 0; i < seeds.n; i++) {
		size_t n_a = pick_units(c->old, old, seeds.items[i], a + n);
		size_t n_b = pick_units(c->new, new, seeds.items[i], b + n);

		n += MIN(n_a, n_b);
	}
	memcpy(old, a, n * sizeof(*old));
	memcpy(new, b, n * sizeof(*new));
	*ret_n = n;
	return 0;
}

/* Whether a program measured it itself, by libquiesce. */
static bool is_by_program(const struct benchmark *benchmark)
{
	return facts_find(&benchmark->metadata, "quiesce_stamps");
}

/* The name of the values that this program gave them, in a name such as "PROGRAM: VALUE"; NULL when
 * it is not of this program. */
static const char *find_value_name(const struct benchmark *program, const struct benchmark *values)
{
	size_t n = strlen(program->name);

	return strncmp(values->name, program->name, n) == 0 &&
			strncmp(values->name + n, ": ", 2) == 0
		? values->name + n + 2
		: NULL;
}

/* The program that measured these values. Of "a" and "a: b" it is the longer one for "a: b: c". */
static const struct benchmark *find_program(
	struct benchmark *const *benchmarks, size_t n, const struct benchmark *values)
{
	const struct benchmark *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (is_by_program(benchmarks[i]) || !find_value_name(benchmarks[i], values))
			continue;
		if (!found || strlen(benchmarks[i]->name) > strlen(found->name))
			found = benchmarks[i];
	}
	return found;
}

const struct benchmark *comparison_find_first(struct benchmark *const *benchmarks, size_t n,
	const struct benchmark *new, const struct benchmark **ret_old)
{
	const struct benchmark *program = new, *first = NULL;

	if (is_by_program(new))
		program = find_program(benchmarks, n, new);
	for (size_t i = 0; program && i < n && !first; i++)
		if (!is_by_program(benchmarks[i]) && comparison_is_in_turn(benchmarks[i], program))
			first = benchmarks[i];
	if (!first || first == program)
		return NULL;
	*ret_old = program == new ? first : NULL;
	for (size_t i = 0; program != new &&i < n; i++) {
		const char *name = find_value_name(first, benchmarks[i]);

		if (name && is_by_program(benchmarks[i]) &&
			strcmp(name, find_value_name(program, new)) == 0)
			*ret_old = benchmarks[i];
	}
	return first;
}

static int make_logarithms(const double *values, size_t n, double **ret)
{
	double *logarithms = reallocarray(NULL, n, sizeof(*logarithms));

	if (!logarithms)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		logarithms[i] = log(values[i]);
	*ret = logarithms;
	return 0;
}

static void set_shift(struct comparison *c, const struct shift *shift)
{
	c->ratio = (struct ratio){
		.ratio = exp(shift->estimate),
		.low = isfinite(shift->low) ? exp(shift->low) : NAN,
		.high = isfinite(shift->high) ? exp(shift->high) : NAN,
	};
	/* Half an interval would look like a whole one. */
	if (isnan(c->ratio.low) || isnan(c->ratio.high))
		c->ratio.low = c->ratio.high = NAN;
	c->p = shift->p;
	c->least_p = shift->least_p;
}

/* "the data are not stable: the changes of the pairs jump between -1.5 % and +9.3 %"; NULL in *ret
 * when they are stable. */
static int explain_unstable_pairs(const double *ratios, size_t n, char **ret)
{
	_cleanup_(levels) struct levels *levels = NULL;
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	struct range range;
	int r;

	*ret = NULL;
	r = levels_find(ratios, n, &levels);
	if (r < 0)
		return r;
	range = find_range(levels);
	/* If the whole range is on one side of 1, the verdict does not depend on the time of the
	 * measurement. */
	if (!range.how || range.low > 1 || range.high < 1)
		return 0;
	units_format_change(range.low - 1, low);
	units_format_change(range.high - 1, high);
	if (asprintf(ret, "the data are not stable: the changes of the pairs %s between %s and %s",
		    range.how, low, high) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Compares the units in pairs. They are given in the order of the runs. */
static int compare_pairs(
	struct comparison *c, const double *old, const double *new, size_t n, char **ret_unclear)
{
	_cleanup_free_ double *ratios = NULL, *differences = NULL, *a = NULL, *b = NULL;
	struct shift shift;
	int r;

	ratios = reallocarray(NULL, n, sizeof(*ratios));
	differences = reallocarray(NULL, n, sizeof(*differences));
	if (!ratios || !differences)
		return -ENOMEM;
	r = make_logarithms(old, n, &a);
	if (r >= 0)
		r = make_logarithms(new, n, &b);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		ratios[i] = new[i] / old[i];
		differences[i] = b[i] - a[i];
		/* Values are greater than 0, but their ratio may be too large or too small for a
		 * double. */
		if (!isfinite(ratios[i]) || !(ratios[i] > 0))
			return 0;
	}
	r = shift_of_pairs(a, b, n, &shift);
	if (r >= 0)
		r = signed_rank_test(differences, n, &c->signs);
	if (r >= 0)
		r = explain_unstable_pairs(ratios, n, ret_unclear);
	if (r < 0)
		return r;
	set_shift(c, &shift);
	c->n_pairs = n;
	return 0;
}

/* Compares sorted units. Units that are not times may be 0, and have no ratio then. */
static int compare_samples(struct comparison *c, const double *old, const double *new)
{
	size_t n_old = c->old_stats.n, n_new = c->new_stats.n;
	_cleanup_free_ double *a = NULL, *b = NULL;
	struct shift shift;
	int r;

	c->ratio = (struct ratio){ c->new_stats.median / c->old_stats.median, NAN, NAN };
	c->p = c->ranks.p;
	c->least_p = 0;
	if (!(old[0] > 0) || !(new[0] > 0))
		return 0;
	r = make_logarithms(old, n_old, &a);
	if (r >= 0)
		r = make_logarithms(new, n_new, &b);
	if (r >= 0)
		r = shift_of_samples(a, n_old, b, n_new, &shift);
	if (r >= 0)
		set_shift(c, &shift);
	return r;
}

/* Levels and pairs need the units in the order of the runs, so they come first: stats_compute()
 * sorts them. */
static int compute(struct comparison *c)
{
	const struct benchmark *sides[] = { c->old, c->new };
	struct stats *stats[] = { &c->old_stats, &c->new_stats };
	_cleanup_free_ double *old = NULL, *new = NULL;
	double **units[] = { &old, &new };
	_cleanup_free_ char *unstable_pairs = NULL;
	struct range ranges[2];
	size_t n[2];
	int r;

	for (int i = 0; i < 2; i++) {
		_cleanup_(levels) struct levels *levels = NULL;

		r = benchmark_units(sides[i], units[i], &n[i]);
		if (r >= 0)
			r = levels_find(*units[i], n[i], &levels);
		if (r < 0)
			return r;
		ranges[i] = find_range(levels);
	}
	if (comparison_is_in_turn(c->old, c->new)) {
		r = pick_pairs(c, old, new, &n[0]);
		n[1] = n[0];
		if (r >= 0)
			r = compare_pairs(c, old, new, n[0], &unstable_pairs);
		if (r < 0)
			return r;
	}
	for (int i = 0; i < 2; i++) {
		r = stats_compute(*units[i], n[i], stats[i]);
		if (r < 0)
			return r;
	}
	r = mann_whitney_test(old, c->old_stats.n, new, c->new_stats.n, &c->ranks);
	if (r >= 0 && c->n_pairs == 0)
		r = compare_samples(c, old, new);
	if (r < 0)
		return r;
	c->welch = (struct welch){ NAN, NAN, NAN };
	(void)welch_test(old, c->old_stats.n, new, c->new_stats.n, &c->welch);

	r = explain_single(c, &c->unclear);
	/* Values of one run tell nothing of other runs. */
	if (c->unclear)
		c->ratio.low = c->ratio.high = NAN;
	if (r < 0 || c->unclear)
		return r;
	if (c->n_pairs > 0) {
		c->unclear = TAKE_PTR(unstable_pairs);
		return 0;
	}
	if ((ranges[0].how || ranges[1].how) && ranges[0].low <= ranges[1].high &&
		ranges[1].low <= ranges[0].high)
		return explain_unstable(ranges, c->old->unit, &c->unclear);
	return 0;
}

int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret)
{
	_cleanup_(comparison) struct comparison *c = NULL;
	int r;

	if (old->unit != new->unit)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->old = old;
	c->new = new;
	r = compute(c);
	if (r >= 0)
		r = find_differences(c);
	if (r < 0)
		return r;
	r = comparison_settle(&c, 1);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

/* Whether a difference could have been found: with the smallest p that so many runs can reach, and
 * with the p of all others as they are. */
static int is_decidable(const double *p, size_t n, size_t at, double least_p, bool *ret)
{
	_cleanup_free_ double *adjusted = NULL;
	int r;

	/* The correction never makes p larger than that. */
	*ret = least_p * (double)n <= SIGNIFICANCE;
	if (*ret)
		return 0;
	adjusted = reallocarray(NULL, n, sizeof(*adjusted));
	if (!adjusted)
		return -ENOMEM;
	memcpy(adjusted, p, n * sizeof(*adjusted));
	adjusted[at] = least_p;
	r = adjust_false_discoveries(adjusted, n);
	if (r >= 0)
		*ret = adjusted[at] <= SIGNIFICANCE;
	return r;
}

/* "too few runs: 5 pairs, and at least 6 are needed to find any difference" */
static int explain_too_few(struct comparison *c, size_t n_compared)
{
	double wanted = SIGNIFICANCE / (double)n_compared;
	int n;

	if (c->n_pairs > 0)
		n = asprintf(&c->unclear,
			"too few runs: %zu pairs, and at least %zu are needed to find any "
			"difference",
			c->n_pairs, shift_pairs_needed(wanted));
	else
		n = asprintf(&c->unclear,
			"too few runs: %zu and %zu, and at least %zu each are needed to find any "
			"difference",
			c->old_stats.n, c->new_stats.n, shift_values_needed(wanted));
	if (n < 0) {
		c->unclear = NULL;
		return -ENOMEM;
	}
	c->is_unclear_by_number = true;
	return 0;
}

static int decide(struct comparison *c, const double *p, size_t n, size_t at)
{
	bool decidable = true;
	int r = 0;

	if (!c->unclear)
		r = is_decidable(p, n, at, c->least_p, &decidable);
	if (r >= 0 && !decidable)
		r = explain_too_few(c, n);
	if (r < 0)
		return r;
	if (c->unclear)
		c->verdict = VERDICT_UNCLEAR;
	else if (c->adjusted_p > SIGNIFICANCE)
		c->verdict = VERDICT_SAME;
	else
		c->verdict = c->ratio.ratio < 1 ? VERDICT_FASTER : VERDICT_SLOWER;
	return 0;
}

int comparison_settle(struct comparison **comparisons, size_t n)
{
	_cleanup_free_ double *p = reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p));
	_cleanup_free_ double *adjusted = reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p));
	size_t n_asked = 0;
	int r;

	if (!p || !adjusted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct comparison *c = comparisons[i];

		/* The number of comparisons may have been another one then. */
		if (c->is_unclear_by_number)
			free(TAKE_PTR(c->unclear));
		c->is_unclear_by_number = false;
		if (!c->unclear)
			p[n_asked++] = c->p;
	}
	memcpy(adjusted, p, n_asked * sizeof(*p));
	r = adjust_false_discoveries(adjusted, n_asked);
	for (size_t i = 0, at = 0; r >= 0 && i < n; i++) {
		comparisons[i]->adjusted_p = comparisons[i]->unclear ? NAN : adjusted[at];
		at += !comparisons[i]->unclear;
		r = decide(comparisons[i], p, n_asked, at > 0 ? at - 1 : 0);
	}
	return r;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->unclear);
	for (size_t i = 0; i < comparison->n_differences; i++)
		free(comparison->differences[i]);
	free(comparison->differences);
	free(comparison);
}

bool comparison_is_slower_by(const struct comparison *comparison, double percent)
{
	return comparison->verdict == VERDICT_SLOWER && comparison->ratio.low > 1 + percent / 100;
}

double comparison_geometric_mean(struct comparison *const *comparisons, size_t n)
{
	double sum = 0;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += log(comparisons[i]->ratio.ratio);
	return exp(sum / (double)n);
}

const char *comparison_verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

/* Bytes and counts are not fast or slow, but less or more. */
static const char *verdict_word(const struct comparison *c)
{
	bool time = c->old->unit == UNIT_SECOND;

	switch (c->verdict) {
	case VERDICT_FASTER:
		return time ? "faster" : "less";
	case VERDICT_SLOWER:
		return time ? "slower" : "more";
	case VERDICT_UNCLEAR:
		return "unclear";
	default:
		return "no difference found";
	}
}

char *comparison_verdict_text(const struct comparison *comparison)
{
	_cleanup_text_ struct text t = { 0 };

	text_append(&t, verdict_word(comparison));
	if (comparison->verdict == VERDICT_UNCLEAR)
		text_appendf(&t, ": %s", comparison->unclear);
	return text_steal(&t);
}

/* With enough decimals to tell the two ends of the interval apart. */
static const char *format_change(
	const struct comparison *c, double ratio, char buf[static UNITS_TEXT_SIZE])
{
	double width = (c->ratio.high - c->ratio.low) * 100, percent = (ratio - 1) * 100;
	int decimals = 0;

	if (!(width > 0) || fabs(percent) > 1e6)
		return units_format_change(ratio - 1, buf);
	while (decimals < 6 && width < 2) {
		decimals++;
		width *= 10;
	}
	/* Neither "-0 %" nor "+0 %". */
	if (fabs(percent) < 0.5 * pow(10, -decimals))
		snprintf(buf, UNITS_TEXT_SIZE, "%.*f %%", decimals, 0.0);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%+.*f %%", decimals, percent);
	return buf;
}

const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE])
{
	return format_change(comparison, comparison->ratio.ratio, buf);
}

const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE])
{
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	if (isnan(comparison->ratio.low))
		snprintf(buf, COMPARISON_INTERVAL_SIZE, "%s", "");
	else
		snprintf(buf, COMPARISON_INTERVAL_SIZE, "%s .. %s",
			format_change(comparison, comparison->ratio.low, low),
			format_change(comparison, comparison->ratio.high, high));
	return buf;
}

static void append_p(struct text *t, double p)
{
	if (p < 0.0001)
		text_append(t, "p < 0.0001");
	else
		text_appendf(t, "p = %.2g", p);
}

/* In the scale of both medians, unless it would show zero. */
static const char *format_median(struct scale scale, const struct benchmark *benchmark,
	const struct stats *stats, char buf[static UNITS_TEXT_SIZE])
{
	if (!scale_shows(scale, stats->median))
		scale = scale_refine(scale_choose_unit(benchmark->unit, stats->median), 1);
	return scale_format(scale, stats->median, buf);
}

char *comparison_render(const struct comparison *comparison)
{
	const struct comparison *c = comparison;
	_cleanup_free_ char *verdict = comparison_verdict_text(c);
	_cleanup_text_ struct text t = { 0 };
	struct scale scale = scale_refine(
		scale_choose_unit(c->old->unit, MAX(c->old_stats.median, c->new_stats.median)), 1);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];
	char interval[COMPARISON_INTERVAL_SIZE];

	if (!verdict)
		return NULL;
	comparison_format_change(c, change);
	text_appendf(&t, "  median     %s -> %s\n", format_median(scale, c->old, &c->old_stats, a),
		format_median(scale, c->new, &c->new_stats, b));
	text_appendf(&t, "  change     %s    ", change);
	if (c->n_pairs > 0)
		text_appendf(&t, "measured in turn, %zu pairs\n", c->n_pairs);
	else
		text_append(&t, "measured one after the other\n");
	if (!isnan(c->ratio.low))
		text_appendf(&t, "  interval   %s    holds the change with 95 %% certainty\n",
			comparison_format_interval(c, interval));
	text_appendf(&t, "  runs       %zu, %zu\n", benchmark_counted_runs(c->old),
		benchmark_counted_runs(c->new));
	text_appendf(&t, "  tests      %s ", c->n_pairs > 0 ? "rank differences" : "Mann-Whitney");
	append_p(&t, c->p);
	if (!isnan(c->adjusted_p) && c->adjusted_p != c->p) {
		text_append(&t, " (of all compared: ");
		append_p(&t, c->adjusted_p);
		text_append(&t, ")");
	}
	if (c->n_pairs > 0) {
		text_append(&t, ", Wilcoxon ");
		append_p(&t, c->signs.p);
	}
	if (!isnan(c->welch.t)) {
		text_appendf(&t, ", Welch t = %.2f, ", c->welch.t);
		append_p(&t, c->welch.p);
	}
	text_appendf(&t, "\n  verdict    %s\n", verdict);
	return text_steal(&t);
}
