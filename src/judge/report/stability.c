// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/fleet.h"
#include "judge/report/stability.h"
#include "judge/report/waiting.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/result/runfact.h"
#include "judge/result/settling.h"

enum {
	/* How many levels a text lists; a series without a fixed level has dozens. */
	LEVELS_SHOWN = 6,
	CAUSES_SHOWN = 2, /* the same for a column */
};

/* A concern is reported from this correlation of neighbouring values on, if it is no chance. */
#define MIN_AUTOCORRELATION 0.2

/* So many steps of its clock make a measurement exact enough: one step is 0.1 %. */
#define STEPS_ENOUGH 1000

/* By so much values before a level change the median to be a reason not to trust it. */
#define SETTLING_WORTH_WARNING 0.01

/* What the events that runpinned attached to all tasks then took at each switch. */
#define RECORDED_SWITCH_NS 2500

/* Stolen time is counted in ticks, which are 10 ms with most kernels (CONFIG_HZ is 100 to 1000;
 * /proc/stat has USER_HZ, which is 100). A run has one or none. */
#define STEAL_TICK_NS 1e7
/* There is a warning if this part of the time of all runs was stolen, and at least so many ticks.
 */
#define STEAL_WORTH_WARNING 0.01
#define STEAL_TICKS_WORTH_WARNING 5

static const char *const code_names[] = {
	[CONCERN_STDEV] = "STDEV",
	[CONCERN_TOO_FEW] = "TOO_FEW",
	[CONCERN_MINIMUM] = "MINIMUM",
	[CONCERN_MAXIMUM] = "MAXIMUM",
	[CONCERN_SHORT] = "SHORT",
	[CONCERN_TOO_MANY] = "TOO_MANY",
	[CONCERN_LEVEL] = "LEVEL",
	[CONCERN_DRIFT] = "DRIFT",
	[CONCERN_AUTOCORRELATION] = "AUTOCORRELATION",
	[CONCERN_STEAL] = "STEAL",
	[CONCERN_NOHZ_FULL] = "NOHZ_FULL",
	[CONCERN_ATTACHED] = "ATTACHED",
	[CONCERN_WARMUP] = "WARMUP",
	[CONCERN_UNSETTLED] = "UNSETTLED",
	[CONCERN_WAITING] = "WAITING",
};

/* Takes ownership of both texts. */
static void add_concern(struct stability *stability, enum concern_code code, bool warning,
	char *in_short, char *text)
{
	stability->concerns = xptr((struct concern *)reallocarray(
		stability->concerns, stability->n_concerns + 1, sizeof(*stability->concerns)));
	stability->concerns[stability->n_concerns++] = (struct concern){
		.code = code,
		.warning = warning,
		.in_short = in_short,
		.text = text,
	};
	if (warning)
		stability->stable = false;
}

/* Formats a figure in the benchmark's unit, with a scale of its own. */
static const char *format_value(
	const struct benchmark *benchmark, double value, char buf[static UNITS_TEXT_SIZE])
{
	return scale_format(scale_choose_unit(benchmark->unit, value), value, buf);
}

/* Returns how many seconds a measurement must take so that the resolution of its clock does not
 * matter. Where the clock is known, a thousand of its steps are enough: libquiesce makes values of
 * 50 us on purpose, and the kernel stamps processes to the nanosecond. Else it is pyperf's
 * millisecond. */
static double find_least_time(const struct benchmark *benchmark)
{
	double step = facts_find_real(&benchmark->metadata, "quiesce_stamps_resolution");
	const struct fact *clock = facts_find(&benchmark->metadata, METADATA_CLOCK);

	if (step > 0)
		return STEPS_ENOUGH * step;
	if (clock && !benchmark_is_by_program(benchmark) &&
		metadata_get_clock(clock) == WINDOW_KERNEL)
		return STEPS_ENOUGH * 1e-9;
	return 1e-3;
}

/* For times only: checks whether the shortest pass of all loops was so short that the resolution of
 * the clock matters. */
static int check_short(struct stability *stability, const struct benchmark *benchmark)
{
	double shortest, longest;
	char a[UNITS_TEXT_SIZE];
	const char *what;
	int r;

	if (!unit_is_time(benchmark->unit) || benchmark->metric)
		return 0;
	r = benchmark_raw_range(benchmark, &shortest, &longest);
	if (r < 0 || shortest >= find_least_time(benchmark))
		return r;
	what = benchmark->n_values == benchmark_counted_runs(benchmark) ? "run" : "measurement";
	units_format_seconds(shortest, a);
	add_concern(stability, CONCERN_SHORT, true, xformat("shortest %s only %s", what, a),
		xformat("the shortest %s took only %s", what, a));
	return 0;
}

/* The rules of format_checks() in pyperf/_cli.py and of required_nprocesses() in pyperf/_bench.py.
 * pyperf counts all runs of a file, warm-ups included, so this does too, to get the same
 * results. */
static int check_as_pyperf(
	struct stability *stability, const struct benchmark *benchmark, const struct stats *stats)
{
	size_t n_all = benchmark->series->n_samples;
	/* With several machines, the number of runs does not matter (judge/report/fleet.h). */
	bool one_machine = !fleet_is_needed(&benchmark, 1);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
	double percent, sigma = stats->stdev / stats->mean;
	int r = 0;

	if (benchmark->runs)
		r = benchmark_run_deviation(benchmark, &sigma);
	if (r < 0)
		return r;
	stability->runs_needed = NAN;
	if (isfinite(sigma))
		stability->runs_needed = ceil(4 * (1.96 * 1.96) * (sigma * sigma) / (0.01 * 0.01));
	if (stats->n >= 2) {
		percent = stats->stdev * 100 / fabs(stats->mean);
		if (percent >= 10)
			add_concern(stability, CONCERN_STDEV, true,
				xformat("stdev %.0f %% of the mean", percent),
				xformat("the standard deviation (%s) is %.0f %% of the mean (%s)",
					format_value(benchmark, stats->stdev, a), percent,
					format_value(benchmark, stats->mean, b)));
		else if (one_machine && stability->runs_needed > (double)n_all)
			add_concern(stability, CONCERN_TOO_FEW, true,
				xformat("too few runs: about %.0f would do",
					stability->runs_needed),
				xformat("too few runs for 95 %% certainty of less than 1 %% "
					"variation: about %.0f would do",
					stability->runs_needed));
	}
	for (int i = 0; i < 2; i++) {
		double value = i == 0 ? stats->min : stats->max;

		percent = (value - stats->mean) * 100 / fabs(stats->mean);
		/* Where all values are 0 there is no proportion. */
		if (!(fabs(percent) >= 50))
			continue;
		add_concern(stability, i == 0 ? CONCERN_MINIMUM : CONCERN_MAXIMUM, true,
			xformat("%s %.0f %% %s the mean", i == 0 ? "minimum" : "maximum",
				fabs(percent), percent >= 0 ? "above" : "below"),
			xformat("the %s (%s) is %.0f %% %s than the mean (%s)",
				i == 0 ? "minimum" : "maximum", format_value(benchmark, value, a),
				fabs(percent), percent >= 0 ? "greater" : "smaller",
				format_value(benchmark, stats->mean, b)));
	}
	r = check_short(stability, benchmark);
	if (r < 0)
		return r;
	if (one_machine && isfinite(sigma) && stability->runs_needed < (double)n_all * 0.75)
		add_concern(stability, CONCERN_TOO_MANY, false, NULL,
			xformat("%.0f run%s would have done for 95 %% certainty of less than 1 %% "
				"variation",
				MAX(stability->runs_needed, 1),
				stability->runs_needed > 1 ? "s" : ""));
	return 0;
}

/* The value of one possible cause in one run, as it stands there; NAN when unknown. */
static double get_cause(const struct series *series, size_t index, const struct run_fact *what)
{
	struct run_place place = run_place_of(series, index, NULL);
	int64_t number;

	if (!run_fact_number(what, &place, &number))
		return run_fact_real(what, &place);
	return number > 0 || what->unit != RUN_KHZ ? (double)number : NAN;
}

/* The median duration of the runs that count. The values do not tell it: they may be times of one
 * iteration of a loop, or bytes. NAN when it is not known for any run. */
static double find_typical_run(const struct series *series)
{
	_cleanup_free_ double *durations =
		xptr(reallocarray(NULL, series->n_samples, sizeof(*durations)));
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		const struct sample *sample = &series->samples[i];
		int64_t ns = sample->user_ns > 0 ? sample->user_ns : sample->kernel_ns;

		if (sample_counts(sample) && ns > 0)
			durations[n++] = (double)ns;
	}
	stats_sort(durations, n);
	return n > 0 ? stats_median(durations, n) : NAN;
}

/* The smallest difference of medians that can matter, in the unit of the cause. `run_ns` is what a
 * run takes; where it is NAN, no difference of stolen or throttled time is too small. */
static double least_difference(const struct run_cause *cause, double a, double b, double run_ns)
{
	if (cause->part_of_run > 0)
		return cause->part_of_run * run_ns;
	return MAX(cause->least, cause->least_part * MIN(a, b));
}

static void describe_cause(struct text *t, const struct run_cause *cause, double a, double b)
{
	char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
	struct scale scale = scale_choose(MAX(a, b) / (double)NSEC_PER_SEC);

	if (cause->part_of_run > 0)
		text_appendf(t, "%s %s -> %s%s", cause->words,
			scale_format_bare(scale, a / (double)NSEC_PER_SEC, from),
			scale_format(scale, b / (double)NSEC_PER_SEC, to), cause->after);
	else
		text_appendf(t, "%s %.*f -> %.*f%s", cause->words, cause->decimals, a / cause->per,
			cause->decimals, b / cause->per, cause->after);
}

/* Collects the known values in the runs [first, first + n), which are numbered without the
 * warm-ups, and sorts them. Returns how many there are. */
static size_t collect_cause(const struct series *series, size_t first, size_t n,
	const struct run_fact *what, double *ret)
{
	size_t k = 0, run = 0;

	for (size_t i = 0; i < series->n_samples && run < first + n; i++) {
		double value;

		if (!sample_counts(&series->samples[i]) || run++ < first)
			continue;
		value = get_cause(series, i, what);
		if (isfinite(value))
			ret[k++] = value;
	}
	stats_sort(ret, k);
	return k;
}

/* Whether two means of stolen time a run differ by more than the ticks of so many runs scatter: the
 * number of ticks has the variance of a Poisson distribution, which is its mean. */
static bool differs_in_steal(const double means[2], const size_t n[2])
{
	double difference = (means[1] - means[0]) / STEAL_TICK_NS;
	double variance = (means[0] / (double)n[0] + means[1] / (double)n[1]) / STEAL_TICK_NS;

	return difference * difference > 9 * variance;
}

/* Whether the value is known and not the same in all runs. If it is the same, it cannot be a cause;
 * this is found out without allocating memory. */
static bool varies(const struct series *series, const struct run_fact *what)
{
	double known = NAN;

	for (size_t i = 0; i < series->n_samples; i++) {
		double value = get_cause(series, i, what);

		if (!isfinite(value))
			continue;
		if (isfinite(known) && (value < known || value > known))
			return true;
		known = value;
	}
	return false;
}

/* Whether a possible cause is compared with what a run takes. */
static bool needs_typical_run(const struct series *series)
{
	for (size_t i = 0; i < run_n_facts; i++)
		if (run_facts[i].cause.part_of_run > 0 && varies(series, &run_facts[i]))
			return true;
	return false;
}

/* Whether the midpoint of the two medians separates the two ranges: at least three quarters of each
 * range must be on the side of its own median. */
static bool are_separated(double *const figures[2], const size_t n[2], const double medians[2])
{
	double middle = medians[0] + (medians[1] - medians[0]) / 2;

	for (int side = 0; side < 2; side++) {
		size_t right = 0;

		for (size_t i = 0; i < n[side]; i++)
			right += (figures[side][i] > middle) == (medians[side] > middle);
		if (4 * right < 3 * n[side])
			return false;
	}
	return true;
}

/*
 * Appends what changed between two ranges of runs, as "temperature 69 -> 58 C, load ...". A
 * difference of medians is mentioned when it is large enough to matter, and when it separates the
 * two ranges. So values that only vary are not mentioned as a cause. Of what a run has or does not
 * have, the parts of the runs are compared; of stolen time, which most runs do not have, the means.
 */
static void append_causes(struct text *t, const struct series *series, const struct level *before,
	const struct level *after, double run_ns)
{
	const struct run_fact *facts[RUN_FACTS_MAX];
	size_t n_facts = run_facts_list(offsetof(struct run_fact, cause.rank), facts);
	_cleanup_free_ double *memory = NULL;
	size_t start = t->length;

	for (size_t i = 0; i < n_facts; i++) {
		const struct run_cause *cause = &facts[i]->cause;
		double *figures[2], typical[2];
		size_t n[2];

		if (!varies(series, facts[i]))
			continue;
		if (!memory)
			memory = xptr((double *)reallocarray(
				NULL, before->n + after->n, sizeof(*memory)));
		figures[0] = memory;
		figures[1] = memory + before->n;

		n[0] = collect_cause(series, before->first, before->n, facts[i], figures[0]);
		n[1] = collect_cause(series, after->first, after->n, facts[i], figures[1]);
		if (n[0] == 0 || n[1] == 0)
			continue;
		for (int side = 0; side < 2; side++)
			typical[side] = cause->by != RUN_BY_MEDIAN
				? stats_mean(figures[side], n[side])
				: stats_median(figures[side], n[side]);
		if (fabs(typical[1] - typical[0]) <
			least_difference(cause, typical[0], typical[1], run_ns))
			continue;
		if ((cause->by == RUN_BY_TICKS && !differs_in_steal(typical, n)) ||
			(cause->by == RUN_BY_MEDIAN && !are_separated(figures, n, typical)))
			continue;
		if (t->length > start)
			text_append(t, ", ");
		describe_cause(t, cause, typical[0], typical[1]);
	}
	if (t->failed)
		xalloc_fail();
}

/* With nohz_full, intel_pstate does not see that a CPU is busy (Red Hat bug 1378529), so the
 * frequency of that CPU changes for reasons that have nothing to do with its load. */
static bool has_nohz_full_with_pstate(const struct benchmark *benchmark)
{
	const char *config = facts_find_string(&benchmark->metadata, "cpu_config");

	if (!config || !strstr(config, "intel_pstate") || !benchmark_is_of_time(benchmark))
		return false;
	return strstr(config, "nohz_full") ||
		facts_find_string(&benchmark->metadata, "quiesce_nohz_full");
}

static void check_levels(struct stability *stability, const struct benchmark *benchmark,
	const struct levels *levels, double run_ns)
{
	bool runs = benchmark_units_are_runs(benchmark);
	struct text t = { 0 };
	double largest = 0, smallest = INFINITY;
	size_t shown = MIN(levels->n, (size_t)LEVELS_SHOWN);
	char value[UNITS_TEXT_SIZE];
	struct scale scale;
	bool first = true;

	for (size_t i = 0; i < levels->n; i++) {
		largest = MAX(largest, fabs(levels->items[i].median));
		smallest = MIN(smallest, fabs(levels->items[i].median));
	}
	scale = scale_choose_unit(benchmark->unit, largest);
	/* Levels that differ by one per cent must not be printed as the same number. */
	if (largest < 1.1 * smallest)
		scale = scale_refine(scale, 1);
	text_appendf(&t, "the values jump: %s ", runs ? "runs" : "values");
	for (size_t i = 0; i < shown; i++) {
		const struct level *level = &levels->items[i];

		text_appendf(&t, "%s%zu-%zu at %s", i > 0 ? ", " : "", level->first + 1,
			level->first + level->n,
			scale_format_shown(scale, benchmark->unit, level->median, value));
	}
	if (shown < levels->n)
		text_appendf(&t, " and %zu more levels", levels->n - shown);
	for (size_t i = 1; i < shown && runs; i++) {
		_cleanup_text_ struct text causes = { 0 };

		append_causes(&causes, benchmark->series, &levels->items[i - 1], &levels->items[i],
			run_ns);
		if (causes.length == 0)
			continue;
		text_append(&t, first ? "; with the change" : ";");
		if (levels->n > 2)
			text_appendf(&t, " at run %zu", levels->items[i].first + 1);
		text_appendf(&t, ": %s", causes.data);
		first = false;
	}
	if (has_nohz_full_with_pstate(benchmark))
		text_append(&t,
			"; a known cause: the CPU is in nohz_full and has the driver intel_pstate, "
			"which then does not see its load");
	add_concern(stability, CONCERN_LEVEL, true,
		xformat("the values jump between %zu levels", levels->n), xptr(text_steal(&t)));
}

static void check_drift(struct stability *stability, const struct benchmark *benchmark,
	const struct stats *stats, const struct levels *levels, double run_ns)
{
	_cleanup_text_ struct text causes = { 0 };
	struct text t = { 0 };
	size_t n = levels->items[levels->n - 1].first + levels->items[levels->n - 1].n;
	size_t quarter = MAX(n / 4, (size_t)1);
	struct level before = { .first = 0, .n = quarter };
	struct level after = { .first = n - quarter, .n = quarter };
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE];

	if (levels->n == 1) {
		double base = levels->drift_from > 0 ? levels->drift_from : stats->median;
		struct scale scale =
			scale_refine(scale_choose_unit(benchmark->unit,
					     MAX(fabs(levels->drift_from), fabs(levels->drift_to))),
				1);

		text_appendf(&t, "the values drift by %s over the series, from %s to %s",
			units_format_change(levels->drift / fabs(base), a),
			scale_format_shown(scale, benchmark->unit, levels->drift_from, b),
			scale_format_shown(scale, benchmark->unit, levels->drift_to, c));
	} else {
		text_appendf(&t, "between the jumps the values drift, by %s over the series",
			units_format_change(levels->drift / fabs(stats->median), a));
	}
	if (benchmark_units_are_runs(benchmark))
		append_causes(&causes, benchmark->series, &before, &after, run_ns);
	if (causes.length > 0)
		text_appendf(&t, "; from the first to the last quarter: %s", causes.data);
	add_concern(stability, CONCERN_DRIFT, true, xformat("the values drift by %s", a),
		xptr(text_steal(&t)));
}

static void check_autocorrelation(
	struct stability *stability, const struct benchmark *benchmark, const struct levels *levels)
{
	double correlation = levels->autocorrelation;
	double independent =
		MAX((double)levels->n_values * (1 - correlation) / (1 + correlation), 1.0);

	if (levels->autocorrelation_p > LEVELS_ALIKE_P || correlation < MIN_AUTOCORRELATION)
		return;
	add_concern(stability, CONCERN_AUTOCORRELATION, true,
		xformat("neighbouring %s are alike (%.2f)",
			benchmark_units_are_runs(benchmark) ? "runs" : "values", correlation),
		xformat("neighbouring %s are alike (autocorrelation %.2f): %zu of them tell about "
			"as much as %.0f independent one%s",
			benchmark_units_are_runs(benchmark) ? "runs" : "values", correlation,
			levels->n_values, independent, independent < 1.5 ? "" : "s"));
}

/* A single run tells nothing about stolen time: its tick may contain time stolen from ten earlier
 * runs. The sum over the series is meaningful. */
static void check_steal(struct stability *stability, const struct series *series)
{
	double stolen = 0, all = 0, ticks;
	char part[UNITS_TEXT_SIZE], a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++) {
		if (!sample_counts(&series->samples[i]) || series->evidence[i].steal_ns < 0)
			continue;
		stolen += (double)series->evidence[i].steal_ns;
		all += (double)series->samples[i].user_ns *
			weight_find_used_cpus(&series->samples[i], &series->evidence[i]);
	}
	if (stolen <= 0 || all <= 0)
		return;
	ticks = stolen / STEAL_TICK_NS;
	add_concern(stability, CONCERN_STEAL,
		stolen >= STEAL_WORTH_WARNING * all && ticks >= STEAL_TICKS_WORTH_WARNING,
		xformat("the hypervisor took %s", units_format_percent(stolen / all, part)),
		xformat("the hypervisor ran others for %s of the %s of all runs (%s), which is "
			"known in ticks of 10 ms and as a sum only",
			units_format_seconds(stolen / (double)NSEC_PER_SEC, a),
			units_format_seconds(all / (double)NSEC_PER_SEC, b),
			units_format_percent(stolen / all, part)));
}

/* Whether each task of the program had events that record its switches, and nobody had asked for
 * that: runpinned did so before it wrote down who stamps the runs. */
static bool had_records(const struct benchmark *benchmark)
{
	const char *evidence = facts_find_string(&benchmark->metadata, "quiesce_evidence");

	return evidence && strcmp(evidence, "none") != 0 &&
		benchmark->series->clock == WINDOW_KERNEL &&
		!facts_find(&benchmark->metadata, METADATA_STAMPS);
}

/* What the events took, by the number of switches. Forks and threads are not counted, and took as
 * much as several switches each. */
static void check_attached(struct stability *stability, const struct benchmark *benchmark)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *parts = NULL;
	char percent[UNITS_TEXT_SIZE];
	size_t n = 0;
	double part;

	if (!series->with_evidence || benchmark_is_by_program(benchmark) || !had_records(benchmark))
		return;
	parts = xptr(calloc(MAX(series->n_samples, (size_t)1), sizeof(*parts)));
	for (size_t i = 0; i < series->n_samples; i++) {
		const struct evidence *e = &series->evidence[i];
		int64_t ns = series->samples[i].kernel_ns;

		if (sample_counts(&series->samples[i]) && e->voluntary_switches >= 0 &&
			e->involuntary_switches >= 0 && ns > 0)
			parts[n++] = ((double)e->voluntary_switches + e->involuntary_switches) *
				RECORDED_SWITCH_NS / (double)ns;
	}
	if (n == 0)
		return;
	stats_sort(parts, n);
	part = stats_median(parts, n);
	if (part < WEIGHT_WORTH_SAYING)
		return;
	add_concern(stability, CONCERN_ATTACHED, true,
		xformat("about %s too long, by perf events", units_format_percent(part, percent)),
		xformat("the values are too long, by about %s, because perf events were attached "
			"to all tasks of the program, as earlier versions of runpinned did",
			units_format_percent(part, percent)));
}

/* "12 of its 50 values (8 .. 15)", "12 to 15 of ..." where there are several runs. */
static void append_before(struct text *t, const struct settling *s)
{
	text_appendf(t, "%zu of %zu values", s->before, s->n_values);
	if (s->before_least < s->before_most)
		text_appendf(t, " (%zu .. %zu)", s->before_least, s->before_most);
}

/* Values before the level of their run, or runs without a level. */
static void check_settling(struct stability *stability, const struct benchmark *benchmark)
{
	const struct settling *s = &benchmark->settling;
	enum settling_kind kind = settling_kind(s);
	_cleanup_text_ struct text before = { 0 };
	char change[UNITS_TEXT_SIZE];
	bool matters = fabs(s->change) >= SETTLING_WORTH_WARNING;

	if (kind == SETTLING_NONE)
		add_concern(stability, CONCERN_UNSETTLED, true,
			xformat("%zu of %zu run%s on no level at the end", s->n_none, s->n_runs,
				s->n_runs == 1 ? "" : "s"),
			xformat("the values do not settle: in %zu of %zu run%s they end on no level "
				"that lasts for a quarter of them",
				s->n_none, s->n_runs, s->n_runs == 1 ? "" : "s"));
	if (kind != SETTLING_WARMS)
		return;
	append_before(&before, s);
	if (before.failed)
		xalloc_fail();
	units_format_change(s->change, change);
	if (s->n_left_out > 0)
		add_concern(stability, CONCERN_WARMUP, false,
			xformat("warm-up left out: %s", before.data),
			xformat("%zu values are left out, which came before the level of their run: "
				"%s of a run; the median changed by %s",
				s->n_left_out, before.data, change));
	else
		add_concern(stability, CONCERN_WARMUP, matters,
			xformat("warm-up: %s before the level, %s without them", before.data,
				change),
			xformat("a run begins %s its level: %s come before that, and the median "
				"changes by %s without them (bench-report --from-level leaves them out)",
				2 * s->n_rises > s->n_runs - s->n_none ? "below or beside"
								       : "above",
				before.data, change));
}

static int check_waiting(struct stability *stability, const struct benchmark *benchmark)
{
	char of_values[UNITS_TEXT_SIZE], of_processor[UNITS_TEXT_SIZE];
	struct waiting waiting;
	int r = waiting_find(benchmark, &waiting);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	units_format_percent(waiting.of_values, of_values);
	units_format_percent(waiting.of_processor, of_processor);
	add_concern(stability, CONCERN_WAITING, false,
		xformat("waiting for the CPU is what varies (%s, the processor time %s): "
			"--metric " METRIC_PROCESSOR_TIME,
			of_values, of_processor),
		xformat("waiting for the CPU makes the time vary by %s, and the processor time "
			"varies by %s: --metric " METRIC_PROCESSOR_TIME " looks at that",
			of_values, of_processor));
	return 0;
}

int stability_assess(const struct benchmark *benchmark, const struct stats *stats,
	const struct levels *levels, struct stability **ret)
{
	_cleanup_(stability) struct stability *stability = NULL;
	const struct disturbances *disturbances;
	double run_ns = NAN;
	int r;

	stability = xptr(calloc(1, sizeof(*stability)));
	stability->stable = true;
	disturbances_find(benchmark->series, &stability->disturbances);
	disturbances = &stability->disturbances;
	stability->mostly_disturbed = benchmark_is_of_time(benchmark) &&
		2 * disturbances->n_disturbed > disturbances->n_runs;
	if (disturbances->n_runs == 0 || benchmark->n_values != stats->n)
		return -EINVAL;

	r = check_as_pyperf(stability, benchmark, stats);
	if (r < 0)
		return r;
	if ((levels->n > 1 || levels->drift != 0) && needs_typical_run(benchmark->series))
		run_ns = find_typical_run(benchmark->series);
	if (levels->n > 1)
		check_levels(stability, benchmark, levels, run_ns);
	if (levels->drift != 0)
		check_drift(stability, benchmark, stats, levels, run_ns);
	check_autocorrelation(stability, benchmark, levels);
	if (benchmark_is_of_time(benchmark))
		check_steal(stability, benchmark->series);
	if (levels->n == 1 && has_nohz_full_with_pstate(benchmark))
		add_concern(stability, CONCERN_NOHZ_FULL, false, NULL,
			xformat("the CPU is in nohz_full and has the driver intel_pstate, which "
				"then does not see its load: its frequency may jump"));
	check_attached(stability, benchmark);
	check_settling(stability, benchmark);
	r = check_waiting(stability, benchmark);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(stability);
	return 0;
}

void stability_free(struct stability *stability)
{
	if (!stability)
		return;
	for (size_t i = 0; i < stability->n_concerns; i++) {
		free(stability->concerns[i].in_short);
		free(stability->concerns[i].text);
	}
	free(stability->concerns);
	disturbances_clear(&stability->disturbances);
	free(stability);
}

const char *concern_code_name(enum concern_code code)
{
	return (size_t)code < ARRAY_SIZE(code_names) ? code_names[code] : NULL;
}

/* The most frequent causes first: "preempted 2 (worst 8.3 %), irq 1". */
static void append_causes_of(
	struct text *t, const struct disturbances *d, bool with_worst, size_t n_shown)
{
	bool shown[SAMPLE_N_FLAGS] = { false };
	char percent[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < n_shown; i++) {
		size_t most = 0, bit = SAMPLE_N_FLAGS;

		for (size_t k = 0; k < SAMPLE_N_FLAGS; k++) {
			if (!shown[k] && d->n_by[k] > most) {
				most = d->n_by[k];
				bit = k;
			}
		}
		if (bit == SAMPLE_N_FLAGS)
			return;
		shown[bit] = true;
		text_appendf(t, "%s%s %zu", i == 0 ? "" : ", ",
			sample_flag_name((enum sample_flag)(1 << bit)), d->n_by[bit]);
		if (with_worst && !isnan(d->worst[bit]))
			text_appendf(t, " (%s%s)", d->n_by[bit] > 1 ? "worst " : "",
				units_format_percent(d->worst[bit], percent));
	}
}

char *stability_disturbed_cell(const struct stability *stability)
{
	const struct disturbances *d = &stability->disturbances;
	char percent[UNITS_TEXT_SIZE];
	size_t n_causes = 0;
	struct text t = { 0 };

	text_appendf(&t, "%zu", d->n_disturbed);
	if (d->n_disturbed > 0) {
		text_append(&t, ": ");
		append_causes_of(&t, d, false, CAUSES_SHOWN);
		for (size_t i = 0; i < SAMPLE_N_FLAGS; i++)
			n_causes += d->n_by[i] > 0;
		text_append_rest(&t, n_causes, CAUSES_SHOWN);
		if (!isnan(d->typical))
			text_appendf(
				&t, "; typically %s", units_format_percent(d->typical, percent));
	}
	return xptr(text_steal(&t));
}

char *stability_disturbed_text(const struct stability *stability)
{
	const struct disturbances *d = &stability->disturbances;
	struct text t = { 0 };
	char percent[UNITS_TEXT_SIZE];
	bool weighed = true;

	if (d->n_disturbed == 0)
		return xptr(text_steal(&t));
	for (size_t i = 0; i < SAMPLE_N_FLAGS; i++)
		weighed = weighed && (d->n_by[i] == 0 || !isnan(d->worst[i]));
	text_appendf(&t, "%zu of %zu runs ", d->n_disturbed, d->n_runs);
	if (weighed)
		text_appendf(&t, "lost %s or more: ",
			d->threshold > WEIGHT_WORTH_SAYING
				? units_format_percent(d->threshold, percent)
				: "1 %");
	else
		text_appendf(&t, "%s disturbed: ", d->n_disturbed == 1 ? "was" : "were");
	append_causes_of(&t, d, true, SAMPLE_N_FLAGS);
	if (!isnan(d->typical))
		text_appendf(
			&t, "; a typical run lost %s", units_format_percent(d->typical, percent));
	return xptr(text_steal(&t));
}
