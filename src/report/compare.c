// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "report/analysis.h"
#include "report/compare.h"
#include "report/turns.h"
#include "result/metadata.h"
#include "result/weight.h"
#include "stats/level.h"
#include "stats/shift.h"

/* The probability of finding a difference where there is none. */
#define SIGNIFICANCE 0.05
/* The same as for the runs of one result (judge_frequencies() of runpinned). */
#define CLOCK_TOLERANCE 0.01
/* Two results may differ by so much in the part of their runs that were on a shared core: that part
 * varies by chance. */
#define SHARED_TOLERANCE 0.3
/* If no more runs than this part of all were on a shared core, the median is that of the runs on a
 * whole core. */
#define SHARED_AT_MOST 0.1

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
static int find_differences(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	bool both_ours = facts_find(&old->metadata, "quiesce_version") &&
		facts_find(&new->metadata, "quiesce_version");

	/* At most one for each key, and two of compare_cores(). */
	c->differences = calloc(ARRAY_SIZE(machine_keys) + 2, sizeof(*c->differences));
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
		if (text_format(
			    &line, "%s: %s -> %s", key, from ? from : "none", to ? to : "none") < 0)
			return -ENOMEM;
		plain = text_escape_control(line);
		if (!plain)
			return -ENOMEM;
		c->differences[c->n_differences++] = plain;
	}
	return 0;
}

/* The median clock of the core during the runs that count; NAN where it is not known of half of
 * them. */
static int find_core_clock(const struct series *series, double *ret_khz)
{
	struct weight_base base;
	int r;

	r = weight_base_find(series, &base);
	if (r < 0)
		return r;
	*ret_khz =
		2 * base.n_core_khz < series->n_samples - series->n_warmups ? NAN : base.core_khz;
	return 0;
}

static int add_difference(struct comparison *c, const char *format, ...) _printf_(2, 3);

static int add_difference(struct comparison *c, const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	c->differences[c->n_differences++] = text;
	return 0;
}

/* The part of the runs that had less than a whole core; NAN where that is not known of half of
 * them. */
static double find_shared_part(const struct series *series)
{
	size_t n = 0, n_shared = 0;

	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++) {
		if (series->samples[i].warmup || isnan(evidence_core_share(&series->evidence[i])))
			continue;
		n++;
		n_shared += evidence_is_shared(&series->evidence[i]);
	}
	if (n == 0 || 2 * n < series->n_samples - series->n_warmups)
		return NAN;
	return (double)n_shared / (double)n;
}

/* How much a whole core does, as both results know it; shares of different ones are not comparable.
 * Both may have had the same neighbour all the time, and no whole core: then the core was the same,
 * too. */
static bool is_same_core(const struct benchmark *old, const struct benchmark *new)
{
	const struct fact *a = facts_find(&old->metadata, METADATA_WHOLE_CORE);
	const struct fact *b = facts_find(&new->metadata, METADATA_WHOLE_CORE);

	return a && b && a->type == FACT_REAL && b->type == FACT_REAL &&
		fabs(b->real - a->real) <= CLOCK_TOLERANCE * a->real;
}

/* What no settings tell: the clock that the core had, whatever governor and limits say, and how
 * often somebody else used it. */
static int compare_cores(struct comparison *c)
{
	double old_part = find_shared_part(c->old->series);
	double new_part = find_shared_part(c->new->series);
	double old = NAN, new = NAN;
	int r;

	r = find_core_clock(c->old->series, &old);
	if (r >= 0)
		r = find_core_clock(c->new->series, &new);
	if (r >= 0 && fabs(new - old) > CLOCK_TOLERANCE * old)
		r = add_difference(
			c, "clock of the core: %.0f MHz -> %.0f MHz", old / 1000, new / 1000);
	if (r >= 0 && fabs(new_part - old_part) > SHARED_TOLERANCE)
		r = add_difference(c, "runs on a shared core: %.0f %% -> %.0f %%", 100 * old_part,
			100 * new_part);
	c->had_core = is_same_core(c->old, c->new) && old_part <= SHARED_AT_MOST &&
		new_part <= SHARED_AT_MOST && fabs(new - old) <= CLOCK_TOLERANCE * old;
	return r;
}

struct range comparison_find_range(const struct levels *levels)
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
			scale_format_shown(scale, unit, ranges[i].low, a),
			scale_format_shown(scale, unit, ranges[i].high, b));
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
		if (benchmark_is_by_program(benchmarks[i]) ||
			!find_value_name(benchmarks[i], values))
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
	const char *name;

	if (benchmark_is_by_program(new))
		program = find_program(benchmarks, n, new);
	if (program && benchmark_is_control(program))
		return NULL;
	name = program ? facts_find_string(&program->metadata, "quiesce_baseline") : NULL;
	for (size_t i = 0; program && i < n && !first; i++)
		if (!benchmark_is_by_program(benchmarks[i]) &&
			!benchmark_is_control(benchmarks[i]) &&
			(!name || metadata_equal_strings(benchmarks[i]->name, name)) &&
			turns_are_common(benchmarks[i], program))
			first = benchmarks[i];
	if (!first || first == program)
		return NULL;
	*ret_old = program == new ? first : NULL;
	for (size_t i = 0; program != new &&i < n; i++) {
		name = find_value_name(first, benchmarks[i]);
		if (name && benchmark_is_by_program(benchmarks[i]) &&
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
	/* An end that is next to 0 is 1 as a ratio, and the interval does not hold 1. */
	if (shift->low > 0)
		c->ratio.low = fmax(c->ratio.low, nextafter(1, 2));
	if (shift->high < 0)
		c->ratio.high = fmin(c->ratio.high, nextafter(1, 0));
	/* If one end is not known, neither is shown. */
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
	range = comparison_find_range(levels);
	/* If the whole range is on one side of 1, the verdict does not depend on the time of the
	 * measurement. */
	if (!range.how || range.low > 1 || range.high < 1)
		return 0;
	units_format_change(range.low - 1, low);
	units_format_change(range.high - 1, high);
	return text_format(ret,
		"the data are not stable: the changes of the pairs %s between %s and %s", range.how,
		low, high);
}

/* Pairs of which some have no ratio, because a value is 0 or the ratio is no double: the change is
 * that of the medians. Ranks are the same with and without logarithms. */
static int compare_pairs_without_ratio(
	struct comparison *c, const double *old, const double *new, double *differences, size_t n)
{
	_cleanup_free_ double *a = reallocarray(NULL, n, sizeof(*a));
	_cleanup_free_ double *b = reallocarray(NULL, n, sizeof(*b));
	struct shift shift;
	int r;

	if (!a || !b)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		differences[i] = new[i] - old[i];
		a[i] = old[i];
		b[i] = new[i];
	}
	r = shift_of_pairs(a, b, n, &shift);
	if (r >= 0)
		r = signed_rank_test(differences, n, &c->signs);
	if (r < 0)
		return r;
	stats_sort(a, n);
	stats_sort(b, n);
	c->ratio = (struct ratio){ stats_median(b, n) / stats_median(a, n), NAN, NAN };
	c->p = shift.p;
	c->least_p = shift.least_p;
	return 0;
}

/* The change, as the median of all ratios, of pairs that have ratios. */
static int compare_ratios(struct comparison *c, const double *old, const double *new,
	const double *ratios, double *differences, size_t n, char **ret_unclear)
{
	_cleanup_free_ double *a = NULL, *b = NULL;
	struct shift shift;
	int r;

	r = make_logarithms(old, n, &a);
	if (r >= 0)
		r = make_logarithms(new, n, &b);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		differences[i] = b[i] - a[i];
	r = shift_of_pairs(a, b, n, &shift);
	if (r >= 0)
		r = signed_rank_test(differences, n, &c->signs);
	if (r >= 0)
		r = explain_unstable_pairs(ratios, n, ret_unclear);
	if (r >= 0)
		set_shift(c, &shift);
	return r;
}

/* Compares the units in pairs. They are given in the order of the runs. */
static int compare_pairs(
	struct comparison *c, const double *old, const double *new, size_t n, char **ret_unclear)
{
	_cleanup_free_ double *ratios = NULL, *differences = NULL;
	bool have_ratios = true;
	int r;

	ratios = reallocarray(NULL, n, sizeof(*ratios));
	differences = reallocarray(NULL, n, sizeof(*differences));
	if (!ratios || !differences)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ratios[i] = new[i] / old[i];
		have_ratios = have_ratios && isfinite(ratios[i]) && ratios[i] > 0;
	}
	r = have_ratios ? compare_ratios(c, old, new, ratios, differences, n, ret_unclear)
			: compare_pairs_without_ratio(c, old, new, differences, n);
	if (r < 0)
		return r;
	c->design = COMPARED_IN_TURN;
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

/* Only times depend on what the machine does while they are measured. */
static void resolve_machines(struct comparison *c, bool is_disturbed)
{
	const struct machine_state state = {
		.differs = c->n_differences > 0,
		.is_disturbed = is_disturbed,
		.had_core = c->had_core,
	};
	const struct resolution found =
		resolution_of_machines(&c->old->metadata, &c->new->metadata, &state);

	if (unit_is_time(c->old->unit))
		resolution_widen(&c->resolution, &found);
}

/* One benchmark by itself: the numbers to compare, and what `check` has to say of them. */
struct side {
	const struct benchmark *benchmark;
	double *units;
	size_t n;
	struct range range;
	struct resolution resolution;
	double excess; /* what comes on top of it */
	struct analysis *analysis;
};

static void side_clear(struct side *side)
{
	free(side->units);
	analysis_free(side->analysis);
}

static int side_fill(const struct benchmark *benchmark, struct side *side)
{
	side->benchmark = benchmark;
	return benchmark_units(benchmark, &side->units, &side->n);
}

/* What only results that were measured one after the other are asked for. The order of the units
 * does not matter. */
static int side_analyze(struct side *side)
{
	bool above_zero = true;
	int r;

	r = analysis_new(side->benchmark, &side->analysis);
	if (r < 0)
		return r;
	side->range = comparison_find_range(side->analysis->levels);
	for (size_t i = 0; i < side->n; i++)
		above_zero = above_zero && side->units[i] > 0;
	return above_zero ? resolution_of_units(side->units, side->n, side->analysis->levels,
				    &side->resolution, &side->excess)
			  : 0;
}

/* Takes ownership of the text. */
static int add_objection(struct comparison *c, char *text)
{
	char **more;

	if (!text)
		return -ENOMEM;
	more = reallocarray(c->objections, c->n_objections + 1, sizeof(char *));
	if (!more) {
		free(text);
		return -ENOMEM;
	}
	c->objections = more;
	more[c->n_objections++] = text;
	return 0;
}

/* What `check` objects to in a side. */
static int object_to(struct comparison *c, const char *name, const struct stability *stability)
{
	_cleanup_free_ char *disturbed = NULL;
	char *text;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < stability->n_findings; i++) {
		const struct finding *finding = &stability->findings[i];

		if (!finding->warning)
			continue;
		if (asprintf(&text, "%s: %s", name, finding->text) < 0)
			text = NULL;
		r = add_objection(c, text);
	}
	if (r < 0 || !stability->mostly_disturbed)
		return r;
	disturbed = stability_disturbed_text(stability);
	if (!disturbed || asprintf(&text, "%s: %s", name, disturbed) < 0)
		text = NULL;
	return add_objection(c, text);
}

/* Collects all doubts about two benchmarks that were measured one after the other. */
static int doubt_sequence(struct comparison *c, struct side *old, struct side *new)
{
	int r;

	r = side_analyze(old);
	if (r >= 0)
		r = side_analyze(new);
	if (r < 0)
		return r;
	resolve_machines(c,
		old->analysis->stability->mostly_disturbed ||
			new->analysis->stability->mostly_disturbed);
	resolution_widen(&c->resolution, &old->resolution);
	resolution_widen(&c->resolution, &new->resolution);
	resolution_add_excess(&c->resolution, MAX(old->excess, new->excess));
	resolution_widen_interval(&c->resolution, &c->ratio.low, &c->ratio.high);
	r = object_to(c, "old", old->analysis->stability);
	if (r >= 0)
		r = object_to(c, "new", new->analysis->stability);
	if (r < 0 || c->unclear)
		return r;
	if ((old->range.how || new->range.how) &&
		old->range.low <= new->range.high &&new->range.low <= old->range.high) {
		const struct range ranges[] = { old->range, new->range };

		return explain_unstable(ranges, c->old->unit, &c->unclear);
	}
	return 0;
}

/* The figures of both, and those that are for information only. Sorts the units. */
static int compute_figures(
	struct comparison *c, double *old, size_t n_old, double *new, size_t n_new)
{
	int r;

	r = stats_compute(old, n_old, &c->old_stats);
	if (r >= 0)
		r = stats_compute(new, n_new, &c->new_stats);
	if (r >= 0)
		r = mann_whitney_test(old, n_old, new, n_new, &c->ranks);
	if (r < 0)
		return r;
	c->welch = (struct welch){ NAN, NAN, NAN };
	(void)welch_test(old, n_old, new, n_new, &c->welch);
	return 0;
}

/* Pairs need the units in the order of the runs, so they come first: stats_compute() sorts them. */
static int compute(struct comparison *c, struct side *old, struct side *new)
{
	_cleanup_free_ char *unstable_pairs = NULL;
	int r;

	r = side_fill(c->old, old);
	if (r >= 0)
		r = side_fill(c->new, new);
	if (r >= 0 && turns_are_common(c->old, c->new)) {
		r = turns_pick_pairs(c->old, c->new, old->units, new->units, &old->n);
		new->n = old->n;
		if (r >= 0)
			r = compare_pairs(c, old->units, new->units, old->n, &unstable_pairs);
	}
	if (r >= 0)
		r = compute_figures(c, old->units, old->n, new->units, new->n);
	if (r >= 0 && c->n_pairs == 0)
		r = compare_samples(c, old->units, new->units);
	if (r >= 0)
		r = explain_single(c, &c->unclear);
	if (r < 0)
		return r;
	/* Values of one run tell nothing of other runs. */
	if (c->unclear)
		c->ratio.low = c->ratio.high = NAN;
	if (c->n_pairs == 0)
		return doubt_sequence(c, old, new);
	if (!c->unclear)
		c->unclear = TAKE_PTR(unstable_pairs);
	return 0;
}

static int comparison_begin(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret)
{
	struct comparison *c;

	if (old->unit != new->unit)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->old = old;
	c->new = new;
	*ret = c;
	return 0;
}

/* --- Several machines --- */

/* Nothing can be said of machines: for this reason. */
static int explain_machines(struct comparison *c, const char *why)
{
	c->design = COMPARED_BETWEEN_MACHINES;
	c->unclear = strdup(why);
	c->ratio = (struct ratio){ c->new_stats.median / c->old_stats.median, NAN, NAN };
	if (!isfinite(c->ratio.ratio))
		c->ratio.ratio = NAN;
	c->p = NAN;
	return c->unclear ? 0 : -ENOMEM;
}

/* Compares machines: each one counts as a single value. */
static int compute_machines(struct comparison *c, const struct fleet *old, const struct fleet *new)
{
	_cleanup_free_ double *a = NULL, *b = NULL;
	const struct nested *nested = &c->fleet.nested;
	size_t n_a, n_b;
	int r;

	r = fleet_machine_values(old, &a, &n_a);
	if (r >= 0)
		r = fleet_machine_values(new, &b, &n_b);
	if (r >= 0)
		r = compute_figures(c, a, n_a, b, n_b);
	c->design = COMPARED_BETWEEN_MACHINES;
	if (r >= 0)
		r = fleet_compare(old, new, &c->fleet);
	if (r == -ENODATA)
		return explain_machines(c, "fewer than two machines have both, or each of them");
	if (r < 0)
		return r;
	c->ratio = (struct ratio){ exp(nested->mean), exp(nested->low), exp(nested->high) };
	c->p = nested->p;
	if (c->fleet.within)
		c->design = COMPARED_WITHIN_MACHINES;
	return 0;
}

/* The units of all results together; *ret is malloc'd. */
static int collect_units(
	const struct benchmark *const *results, size_t n, double **ret, size_t *ret_n)
{
	_cleanup_free_ double *all = NULL;
	size_t n_all = 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ double *units = NULL;
		double *larger;
		size_t n_units;
		int r = benchmark_units(results[i], &units, &n_units);

		if (r < 0)
			return r;
		larger = reallocarray(all, n_all + n_units, sizeof(*all));
		if (!larger)
			return -ENOMEM;
		all = larger;
		memcpy(all + n_all, units, n_units * sizeof(*all));
		n_all += n_units;
	}
	*ret = TAKE_PTR(all);
	*ret_n = n_all;
	return 0;
}

/* The medians are those of all runs then. */
static int explain_zeros(struct comparison *c, const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	_cleanup_free_ double *a = NULL, *b = NULL;
	size_t n_a, n_b;
	int r = collect_units(old, n_old, &a, &n_a);

	if (r >= 0)
		r = collect_units(new, n_new, &b, &n_b);
	if (r >= 0)
		r = compute_figures(c, a, n_a, b, n_b);
	if (r >= 0)
		r = explain_machines(
			c, "machines are compared by ratios, and a value of 0 has none");
	return r;
}

static int compare_machines(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, struct comparison *c)
{
	_cleanup_(fleet) struct fleet *a = NULL, *b = NULL;
	int r = fleet_new(old, n_old, &a);

	if (r >= 0)
		r = fleet_new(new, n_new, &b);
	if (r == -ERANGE)
		return explain_zeros(c, old, n_old, new, n_new);
	return r < 0 ? r : compute_machines(c, a, b);
}

int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret)
{
	bool of_machines = fleet_is_needed(&old, 1) || fleet_is_needed(&new, 1);
	_cleanup_(comparison) struct comparison *c = NULL;
	struct side sides[2] = { 0 };
	int r;

	r = comparison_begin(old, new, &c);
	if (r >= 0)
		r = find_differences(c, old, new);
	if (r >= 0 && of_machines)
		r = compare_machines(&old, 1, &new, 1, c);
	if (r >= 0 && !of_machines && !turns_are_common(old, new))
		r = compare_cores(c);
	if (r >= 0 && !of_machines)
		r = compute(c, &sides[0], &sides[1]);
	side_clear(&sides[0]);
	side_clear(&sides[1]);
	if (r < 0)
		return r;
	r = comparison_settle(&c, 1);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

/* --- Several results of each --- */

/* The median of the units of each result. */
static int make_medians(const struct benchmark *const *results, size_t n, double **ret)
{
	_cleanup_free_ double *medians = reallocarray(NULL, n, sizeof(*medians));

	if (!medians)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int r = benchmark_median(results[i], &medians[i]);

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(medians);
	return 0;
}

struct dated {
	int64_t date;
	bool is_new;
};

static int compare_dates(const void *a, const void *b)
{
	const struct dated *x = a, *y = b;

	if (x->date != y->date)
		return x->date < y->date ? -1 : 1;
	return (int)x->is_new - (int)y->is_new;
}

/*
 * Were old and new results measured by turns? A stretch of results of one side has no partner in
 * time: so many changes of side are asked for as the smaller number of results, which half of all
 * random orders have. And neither side may be the earlier one by and large: of all pairs of an old
 * and a new result, the old one came first in a quarter to three quarters.
 */
static int find_alternation(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, bool *ret)
{
	_cleanup_free_ struct dated *dates = reallocarray(NULL, n_old + n_new, sizeof(*dates));
	size_t n_changes = 0, n_old_before = 0, n_earlier = 0;
	double earlier;

	if (!dates)
		return -ENOMEM;
	for (size_t i = 0; i < n_old + n_new; i++) {
		const struct benchmark *b = i < n_old ? old[i] : new[i - n_old];

		*ret = b->has_dates;
		if (!b->has_dates)
			return 0;
		dates[i] = (struct dated){ b->first_date, i >= n_old };
	}
	qsort(dates, n_old + n_new, sizeof(*dates), compare_dates);
	for (size_t i = 0; i < n_old + n_new; i++) {
		n_changes += i > 0 && dates[i].is_new != dates[i - 1].is_new;
		n_earlier += dates[i].is_new ? n_old_before : 0;
		n_old_before += !dates[i].is_new;
	}
	earlier = (double)n_earlier / (double)n_old / (double)n_new;
	*ret = n_changes >= MIN(n_old, n_new) && earlier >= 0.25 && earlier <= 0.75;
	return 0;
}

static int compute_results(struct comparison *c, const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	_cleanup_free_ double *a = NULL, *b = NULL;
	bool alternate;
	int r;

	c->design = COMPARED_RESULTS;
	c->n_old_results = n_old;
	c->n_new_results = n_new;
	r = make_medians(old, n_old, &a);
	if (r >= 0)
		r = make_medians(new, n_new, &b);
	if (r >= 0)
		r = find_alternation(old, n_old, new, n_new, &alternate);
	if (r >= 0)
		r = compute_figures(c, a, n_old, b, n_new);
	if (r >= 0)
		r = compare_samples(c, a, b);
	if (r < 0)
		return r;
	if (!alternate) {
		c->design = COMPARED_RESULTS_IN_SEQUENCE;
		resolve_machines(c, false);
		resolution_widen_interval(&c->resolution, &c->ratio.low, &c->ratio.high);
	}
	return 0;
}

/* Looks at pairs of results of one machine only: two machines differ anyway. */
static int find_differences_of_results(struct comparison *c, const struct benchmark *const *old,
	size_t n_old, const struct benchmark *const *new, size_t n_new)
{
	for (size_t i = 0; i < n_old; i++) {
		for (size_t k = 0; k < n_new; k++) {
			struct fleet_sitting a, b;

			(void)fleet_describe_sitting(old[i], 0, &a);
			(void)fleet_describe_sitting(new[k], 0, &b);
			if (fleet_is_same_machine(&a, &b))
				return find_differences(c, old[i], new[k]);
		}
	}
	return 0;
}

int comparison_new_of_results(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, struct comparison **ret)
{
	_cleanup_(comparison) struct comparison *c = NULL;
	int r;

	if (n_old == 0 || n_new == 0)
		return -EINVAL;
	for (size_t i = 0; i < n_old + n_new; i++)
		if ((i < n_old ? old[i] : new[i - n_old])->unit != old[0]->unit)
			return -EINVAL;
	r = comparison_begin(old[0], new[0], &c);
	if (r >= 0)
		r = find_differences_of_results(c, old, n_old, new, n_new);
	if (r >= 0 && (fleet_is_needed(old, n_old) || fleet_is_needed(new, n_new)))
		r = compare_machines(old, n_old, new, n_new, c);
	else if (r >= 0)
		r = compute_results(c, old, n_old, new, n_new);
	if (r >= 0)
		r = comparison_settle(&c, 1);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

/* --- Verdicts --- */

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

bool comparison_is_of_machines(const struct comparison *comparison)
{
	return comparison->design == COMPARED_WITHIN_MACHINES ||
		comparison->design == COMPARED_BETWEEN_MACHINES;
}

static bool is_of_results(const struct comparison *c)
{
	return c->design == COMPARED_RESULTS || c->design == COMPARED_RESULTS_IN_SEQUENCE;
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
			"too few %s: %zu and %zu, and at least %zu each are needed to find any "
			"difference",
			is_of_results(c) ? "results" : "runs", c->old_stats.n, c->new_stats.n,
			shift_values_needed(wanted));
	if (n < 0) {
		c->unclear = NULL;
		return -ENOMEM;
	}
	c->is_unclear_by_settling = true;
	return 0;
}

/* Whether the change is beyond what the machine may do between two results. */
static bool is_resolved(const struct comparison *c)
{
	if (c->resolution.share <= 0)
		return true;
	if (isnan(c->ratio.low))
		return fabs(log(c->ratio.ratio)) > log1p(c->resolution.share);
	return c->ratio.low > 1 || c->ratio.high < 1;
}

/* "measured one after the other, which shows nothing below about 20 %", malloc'd. */
static char *make_unresolved_text(const struct comparison *c)
{
	char share[UNITS_TEXT_SIZE], control[UNITS_TEXT_SIZE], *text;
	int n;

	units_format_percent(c->resolution.share, share);
	if (c->design == COMPARED_BY_CONTROL)
		n = asprintf(&text,
			"the control itself changed by %s, so nothing shows below about %s",
			units_format_change(c->control_ratio - 1, control), share);
	else
		n = asprintf(&text,
			"measured one after the other, which shows nothing below about %s", share);
	return n < 0 ? NULL : text;
}

static int explain_unresolved(struct comparison *c)
{
	c->unclear = make_unresolved_text(c);
	if (!c->unclear)
		return -ENOMEM;
	c->is_unclear_by_settling = true;
	c->is_unresolved = true;
	return 0;
}

/* Whether new is above old more often than below, which is what the tests go by. */
static bool is_more_often(const struct comparison *c)
{
	return c->ranks.u > (double)c->old_stats.n * (double)c->new_stats.n / 2;
}

/* Where a value of 0 has no ratio, the change is that of the medians. They need not tell which of
 * two different samples is greater. */
static bool has_direction(const struct comparison *c)
{
	if (!isnan(c->ratio.low) || comparison_is_of_machines(c))
		return true;
	return is_more_often(c) ? c->ratio.ratio > 1 : c->ratio.ratio < 1;
}

/* With many equal values most ratios may be 1, and so the median of them. */
static bool is_less(const struct comparison *c)
{
	return c->ratio.ratio == 1 ? !is_more_often(c) : c->ratio.ratio < 1;
}

static int explain_no_direction(struct comparison *c)
{
	c->unclear = strdup(isnan(c->ratio.ratio)
			? "they differ, but both medians are 0, which have no ratio"
			: "they differ, but the medians do not tell how, and a value of 0 has no "
			  "ratio");
	if (!c->unclear)
		return -ENOMEM;
	c->is_unclear_by_settling = true;
	return 0;
}

static int decide(struct comparison *c, const double *p, size_t n, size_t at)
{
	bool decidable = true;
	int r = 0;

	c->is_unresolved = false;
	if (!c->unclear)
		r = is_decidable(p, n, at, c->least_p, &decidable);
	if (r >= 0 && !decidable)
		r = explain_too_few(c, n);
	if (r >= 0 && !c->unclear && c->adjusted_p <= SIGNIFICANCE && !has_direction(c))
		r = explain_no_direction(c);
	if (r >= 0 && !c->unclear && c->adjusted_p <= SIGNIFICANCE && !is_resolved(c))
		r = explain_unresolved(c);
	if (r < 0)
		return r;
	if (c->unclear)
		c->verdict = VERDICT_UNCLEAR;
	else if (c->adjusted_p > SIGNIFICANCE)
		c->verdict = VERDICT_SAME;
	else
		c->verdict = is_less(c) ? VERDICT_FASTER : VERDICT_SLOWER;
	return 0;
}

int comparison_settle_chosen(struct comparison **comparisons, size_t n, size_t n_all)
{
	_cleanup_free_ double *p = reallocarray(NULL, MAX(n_all, (size_t)1), sizeof(*p));
	_cleanup_free_ double *adjusted = reallocarray(NULL, MAX(n_all, (size_t)1), sizeof(*p));
	size_t n_asked = 0, n_others = n_all - n;
	int r;

	if (!p || !adjusted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct comparison *c = comparisons[i];

		/* It depends on the number of comparisons, which may have been another one. */
		if (c->is_unclear_by_settling)
			free(TAKE_PTR(c->unclear));
		c->is_unclear_by_settling = false;
		if (!c->unclear)
			p[n_asked++] = c->p;
	}
	for (size_t i = 0; i < n_others; i++)
		p[n_asked + i] = 1;
	memcpy(adjusted, p, (n_asked + n_others) * sizeof(*p));
	r = adjust_false_discoveries(adjusted, n_asked + n_others);
	for (size_t i = 0, at = 0; r >= 0 && i < n; i++) {
		comparisons[i]->adjusted_p = comparisons[i]->unclear ? NAN : adjusted[at];
		at += !comparisons[i]->unclear;
		r = decide(comparisons[i], p, n_asked + n_others, at > 0 ? at - 1 : 0);
	}
	return r;
}

int comparison_settle(struct comparison **comparisons, size_t n)
{
	return comparison_settle_chosen(comparisons, n, n);
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->unclear);
	for (size_t i = 0; i < comparison->n_differences; i++)
		free(comparison->differences[i]);
	free(comparison->differences);
	for (size_t i = 0; i < comparison->n_objections; i++)
		free(comparison->objections[i]);
	free(comparison->objections);
	free(comparison);
}

enum gate comparison_gate(const struct comparison *comparison, double percent)
{
	const struct comparison *c = comparison;
	double limit = 1 + percent / 100;

	/* If the old value is 0, every new value is more by any percentage. */
	if (c->verdict == VERDICT_SLOWER && (c->ratio.low > limit || isinf(c->ratio.ratio)))
		return GATE_FAILS;
	if (c->unclear && !c->is_unresolved)
		return GATE_UNCLEAR;
	if (c->verdict == VERDICT_SLOWER && isnan(c->ratio.low) && c->ratio.ratio > limit)
		return GATE_UNCLEAR;
	if (c->resolution.share > 0 && !(c->ratio.high <= limit))
		return GATE_UNCLEAR;
	return GATE_PASSES;
}

char *comparison_gate_reason(const struct comparison *comparison)
{
	if (comparison->unclear)
		return strdup(comparison->unclear);
	if (comparison->resolution.share <= 0)
		return strdup("a value of 0 has no ratio, so the change has no interval");
	return make_unresolved_text(comparison);
}

const char *comparison_remedy(const struct comparison *comparison)
{
	switch (comparison->design) {
	case COMPARED_IN_SEQUENCE:
		return "measure both in turn (runpinned --baseline), each beside a control "
		       "(runpinned --control), or several results by turns (--old, --new)";
	case COMPARED_RESULTS_IN_SEQUENCE:
		return "measure old and new by turns";
	default:
		return NULL;
	}
}

const char *comparison_gate_name(enum gate gate)
{
	static const char *const names[] = {
		[GATE_PASSES] = "passes",
		[GATE_FAILS] = "fails",
		[GATE_UNCLEAR] = "unclear",
	};

	return names[gate];
}

const char *comparison_design_name(enum comparison_design design)
{
	static const char *const names[] = {
		[COMPARED_IN_SEQUENCE] = "in sequence",
		[COMPARED_IN_TURN] = "in turn",
		[COMPARED_BY_CONTROL] = "by a control",
		[COMPARED_RESULTS] = "results by turns",
		[COMPARED_RESULTS_IN_SEQUENCE] = "results in sequence",
		[COMPARED_WITHIN_MACHINES] = "within machines",
		[COMPARED_BETWEEN_MACHINES] = "between machines",
	};

	return names[design];
}

double comparison_geometric_mean(struct comparison *const *comparisons, size_t n, size_t *ret_n)
{
	double sum = 0;

	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		double ratio = comparisons[i]->ratio.ratio;

		if (!isfinite(ratio) || !(ratio > 0))
			continue;
		sum += log(ratio);
		++*ret_n;
	}
	return *ret_n > 0 ? exp(sum / (double)*ret_n) : NAN;
}

const char *comparison_verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

bool comparison_is_of_speed(const struct comparison *comparison)
{
	return unit_is_time(comparison->old->unit) && !comparison->old->metric;
}

static const char *verdict_word(const struct comparison *c)
{
	bool time = comparison_is_of_speed(c);

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

/* With enough decimals to tell the ends of an interval of this width apart. */
static const char *format_change(double ratio, double width, char buf[static UNITS_TEXT_SIZE])
{
	double percent = (ratio - 1) * 100;
	int decimals = 0;

	width *= 100;
	/* Logarithms of equal values differ by less than that after some arithmetic. */
	if (!(width > 1e-9) || fabs(percent) > 1e6)
		return units_format_change(ratio - 1, buf);
	/* Where hardly anything varies, six digits say enough. */
	while (decimals < 6 && width < 2 && fabs(percent) * pow(10, decimals) < 1e5) {
		decimals++;
		width *= 10;
	}
	/* Zero is printed without a sign. */
	if (fabs(percent) < 0.5 * pow(10, -decimals))
		snprintf(buf, UNITS_TEXT_SIZE, "%.*f %%", decimals, 0.0);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%+.*f %%", decimals, percent);
	return buf;
}

/* The change is as exact as the runs tell it, and not only as exact as the machine lets it be. */
const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE])
{
	const struct ratio *ratio = &comparison->ratio;
	double share = comparison->resolution.share;

	return format_change(
		ratio->ratio, ratio->high / (1 + share) - ratio->low * (1 + share), buf);
}

const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE])
{
	const struct ratio *ratio = &comparison->ratio;
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	if (isnan(ratio->low))
		snprintf(buf, COMPARISON_INTERVAL_SIZE, "%s", "");
	else
		snprintf(buf, COMPARISON_INTERVAL_SIZE, "%s .. %s",
			format_change(ratio->low, ratio->high - ratio->low, low),
			format_change(ratio->high, ratio->high - ratio->low, high));
	return buf;
}

const char *comparison_format_both(
	const struct comparison *comparison, char buf[static COMPARISON_BOTH_SIZE])
{
	char change[UNITS_TEXT_SIZE], interval[COMPARISON_INTERVAL_SIZE];

	comparison_format_change(comparison, change);
	if (*comparison_format_interval(comparison, interval))
		snprintf(buf, COMPARISON_BOTH_SIZE, "%s (%s)", change, interval);
	else
		snprintf(buf, COMPARISON_BOTH_SIZE, "%s", change);
	return buf;
}

static void append_p(struct text *t, double p)
{
	if (p < 0.0001)
		text_append(t, "p < 0.0001");
	else
		text_appendf(t, "p = %.2g", p);
}

/* The medians of both may differ by another proportion than the runs do. */
static const char *median_remark(const struct comparison *c)
{
	double ratio = c->new_stats.median / c->old_stats.median;

	if ((ratio > 1) == (c->ratio.ratio > 1) || ratio == 1 || c->ratio.ratio == 1)
		return "";
	if (comparison_is_of_machines(c))
		return "    of each alone; the change is the machines' mean";
	return c->n_pairs > 0 ? "    of each alone; the change is that of the pairs"
			      : "    of each alone; the change is that of all against all";
}

static void append_design(struct text *t, const struct comparison *c, const char *change)
{
	text_appendf(t, "  change     %s    ", change);
	switch (c->design) {
	case COMPARED_IN_TURN:
		text_appendf(t, "measured in turn, %zu pair%s\n", c->n_pairs,
			c->n_pairs == 1 ? "" : "s");
		break;
	case COMPARED_BY_CONTROL:
		text_appendf(t, "by the ratios to the control, %zu and %zu rounds\n",
			c->n_rounds[0], c->n_rounds[1]);
		break;
	case COMPARED_RESULTS:
		text_append(t, "results measured by turns\n");
		break;
	case COMPARED_RESULTS_IN_SEQUENCE:
		text_append(t, "results not measured by turns, or of unknown dates\n");
		break;
	case COMPARED_WITHIN_MACHINES:
		text_appendf(
			t, "on each of %zu machines, and their mean\n", c->fleet.n_machines[0]);
		break;
	case COMPARED_BETWEEN_MACHINES:
		text_append(t, "of machines that are others\n");
		break;
	default:
		text_append(t, "measured one after the other\n");
	}
}

/* Appends nothing if there are too few machines for a test. */
static void append_tests(struct text *t, const struct comparison *c)
{
	if (isnan(c->p) && comparison_is_of_machines(c))
		return;
	text_appendf(t, "  tests      %s ",
		comparison_is_of_machines(c)   ? "Student's t of the machines"
			: c->n_pairs > 0       ? "rank differences"
			: c->control_ratio > 0 ? "ratios to the control"
					       : "Mann-Whitney");
	append_p(t, c->p);
	if (!isnan(c->adjusted_p) && c->adjusted_p != c->p) {
		text_append(t, " (of all compared: ");
		append_p(t, c->adjusted_p);
		text_append(t, ")");
	}
	if (c->n_pairs > 0) {
		text_append(t, ", Wilcoxon ");
		append_p(t, c->signs.p);
	}
	if (!isnan(c->welch.t) && !comparison_is_of_machines(c)) {
		text_appendf(t,
			fabs(c->welch.t) < 1e6 ? ", Welch t = %.2f, " : ", Welch t = %.2g, ",
			c->welch.t);
		append_p(t, c->welch.p);
	}
	if (c->design == COMPARED_IN_SEQUENCE)
		text_append(t, "; as if runs were independent");
	text_append(t, "\n");
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
	scale = scale_resolve(scale, c->new_stats.median - c->old_stats.median);
	text_appendf(&t, "  median     %s -> %s%s\n",
		scale_format_shown(scale, c->old->unit, c->old_stats.median, a),
		scale_format_shown(scale, c->old->unit, c->new_stats.median, b), median_remark(c));
	append_design(&t, c, change);
	if (!isnan(c->ratio.low))
		text_appendf(&t, "  interval   %s    holds the change with 95 %% certainty\n",
			comparison_format_interval(c, interval));
	if (c->control_ratio > 0)
		text_appendf(&t,
			"  control    %s    its own change, which is taken out of that one\n",
			units_format_change(c->control_ratio - 1, a));
	if (c->resolution.share > 0)
		text_appendf(&t, "  resolution %s    two results of %s can differ by it\n",
			units_format_percent(c->resolution.share, a), c->resolution.why);
	if (c->fleet.n_machines[0] > 0)
		fleet_append_rows(&t, &c->fleet.nested, &c->fleet);
	else if (is_of_results(c))
		text_appendf(&t, "  results    %zu, %zu\n", c->n_old_results, c->n_new_results);
	else
		text_appendf(&t, "  runs       %zu, %zu\n", benchmark_counted_runs(c->old),
			benchmark_counted_runs(c->new));
	append_tests(&t, c);
	for (size_t i = 0; i < c->n_objections; i++)
		text_appendf(&t, "  %-10s %s\n", i == 0 ? "check" : "", c->objections[i]);
	text_appendf(&t, "  verdict    %s\n", verdict);
	if (c->verdict == VERDICT_UNCLEAR && comparison_remedy(c))
		text_appendf(&t, "  instead    %s\n", comparison_remedy(c));
	return text_steal(&t);
}
