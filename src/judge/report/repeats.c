// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/differences.h"
#include "judge/report/fleet.h"
#include "judge/report/repeats.h"
#include "judge/result/metadata.h"
#include "judge/stats/level.h"
#include "judge/stats/stats.h"

enum {
	MINUTE = 60,
	HOUR = 60 * MINUTE,
	DAY = 24 * HOUR,
};

/* One sitting that may count. */
struct repeat {
	int64_t date;
	double level; /* the median of its runs, as a logarithm */
	size_t n;     /* its runs */
	size_t program;
};

/* The repeats of one benchmark. */
struct found {
	struct repeat *items;
	size_t n;
	char **programs; /* differences_describe_program() */
	size_t n_programs;
};

static void found_clear(struct found *found)
{
	for (size_t i = 0; i < found->n_programs; i++)
		free(found->programs[i]);
	free(found->programs);
	free(found->items);
}

void repeats_clear(struct repeats *repeats)
{
	for (size_t i = 0; i < repeats->n_remarks; i++)
		free(repeats->remarks[i]);
	free(repeats->remarks);
}

/* Takes ownership of the text. */
static void add_remark(struct repeats *repeats, char *text)
{
	for (size_t i = 0; i < repeats->n_remarks; i++) {
		if (strcmp(repeats->remarks[i], text) == 0) {
			free(text);
			return;
		}
	}
	repeats->remarks =
		xptr(reallocarray(repeats->remarks, repeats->n_remarks + 1, sizeof(char *)));
	repeats->remarks[repeats->n_remarks++] = text;
}

/* --- Which sittings count --- */

static size_t find_program(struct found *found, const struct benchmark *benchmark)
{
	_cleanup_free_ char *program = differences_describe_program(benchmark);

	for (size_t i = 0; i < found->n_programs; i++)
		if (strcmp(found->programs[i], program) == 0)
			return i;
	found->programs =
		xptr(reallocarray(found->programs, found->n_programs + 1, sizeof(char *)));
	found->programs[found->n_programs] = TAKE_PTR(program);
	return found->n_programs++;
}

static void add_repeat(struct found *found, const struct repeat *repeat)
{
	found->items = xptr(reallocarray(found->items, found->n + 1, sizeof(*found->items)));
	found->items[found->n++] = *repeat;
}

/*
 * Adds all sittings of a result that have dates and values above 0. The runs of a benchmark with a
 * single run are its values, which are of one sitting.
 */
static void add_sittings(struct found *found, const struct benchmark *b, size_t program)
{
	_cleanup_free_ double *units = NULL;
	size_t n, run = 0, at = 0;

	if (!b->has_dates || benchmark_units(b, &units, &n) < 0)
		return;
	for (size_t i = 0; i < fleet_count_sittings(b); i++) {
		struct repeat repeat = { .date = INT64_MAX, .program = program };
		struct fleet_sitting sitting;
		size_t end = fleet_describe_sitting(b, i, &sitting), first = at;

		for (; run < end; run++) {
			const struct sample *sample = &b->series->samples[run];

			if (!sample_counts(sample))
				continue;
			at++;
			if (sample->start_ns >= 0)
				repeat.date = MIN(repeat.date,
					b->first_date + sample->start_ns / NSEC_PER_SEC);
		}
		if (at > first && !benchmark_units_are_runs(b))
			at = n;
		repeat.n = at - first;
		if (repeat.n == 0 || repeat.date == INT64_MAX)
			continue;
		stats_sort(units + first, repeat.n);
		if (!(units[first] > 0))
			continue;
		repeat.level = log(stats_median(units + first, repeat.n));
		add_repeat(found, &repeat);
	}
}

static bool is_among(const struct repeat *repeat, const struct repeat *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (items[i].date == repeat->date && items[i].n == repeat->n &&
			items[i].level == repeat->level)
			return true;
	}
	return false;
}

/* Why no sitting of a result counts; NULL where it may. */
static char *explain_other(const struct comparison *c, const struct benchmark *result)
{
	_cleanup_(comparison) struct comparison *both = xptr(calloc(1, sizeof(*both)));
	const char *difference, *lost;

	if (!unit_is_same(result->unit, c->old->unit))
		return xformat("is in %s%s", unit_name(result->unit), unit_plural(result->unit));
	differences_find(both, c->old, result);
	difference = differences_find_other(both);
	if (difference)
		return xformat("was measured differently, %s", difference);
	/* What differs between the runs of a merged result holds for none of them. */
	lost = fleet_count_sittings(result) > 1 ? differences_find_lost(c->old, result) : NULL;
	if (lost)
		return xformat("does not tell %s for all of its sittings", lost);
	if (!result->has_dates)
		return xptr(strdup("does not tell when it was measured"));
	return NULL;
}

static void add_result(struct repeats *repeats, const struct comparison *c, const char *name,
	const struct benchmark *result, const struct found *judged, struct found *found)
{
	_cleanup_free_ char *why = explain_other(c, result);
	size_t first = found->n, n = first, n_added, n_other = 0;

	if (why) {
		add_remark(repeats, xformat("%s does not count: it %s", name, why));
		return;
	}
	add_sittings(found, result, find_program(found, result));
	n_added = found->n - first;
	for (size_t i = first; i < found->n; i++) {
		const struct repeat repeat = found->items[i];

		if (is_among(&repeat, judged->items, judged->n))
			continue;
		n_other++;
		if (!is_among(&repeat, found->items, n))
			found->items[n++] = repeat;
	}
	found->n = n;
	if (n_added > 0 && n_other == 0)
		add_remark(repeats, xformat("%s does not count: it is what is judged", name));
}

static int compare_dates(const void *a, const void *b)
{
	const struct repeat *x = a, *y = b;

	if (x->date != y->date)
		return x->date < y->date ? -1 : 1;
	return (x->level > y->level) - (x->level < y->level);
}

static char *describe_time(int64_t seconds)
{
	if (seconds >= 2 * DAY)
		return xformat("%.0f days", (double)seconds / DAY);
	if (seconds >= 2 * HOUR)
		return xformat("%.0f hours", (double)seconds / HOUR);
	if (seconds >= 2 * MINUTE)
		return xformat("%.0f minutes", (double)seconds / MINUTE);
	return xformat("%lld s", (long long)seconds);
}

/* How far apart sittings have to begin to tell something of OLD and NEW: half as far as these, for
 * not even each night's begins in the same second. */
static int64_t find_least_distance(const struct comparison *c)
{
	int64_t distance;

	if (comparison_is_of_results(c) || !c->old->has_dates || !c->new->has_dates)
		return DAY / 2;
	distance = c->new->first_date - c->old->first_date;
	return MIN(distance < 0 ? -distance : distance, (int64_t)DAY) / 2;
}

/* Leaves out sittings that follow another one too soon. */
static void thin_out(struct repeats *repeats, const struct comparison *c, struct found *found)
{
	int64_t least = find_least_distance(c);
	size_t n = 0, n_near = 0;
	_cleanup_free_ char *time = describe_time(least);

	if (found->n > 0)
		qsort(found->items, found->n, sizeof(*found->items), compare_dates);
	for (size_t i = 0; i < found->n; i++) {
		if (n > 0 && found->items[i].date - found->items[n - 1].date < least)
			n_near++;
		else
			found->items[n++] = found->items[i];
	}
	found->n = n;
	if (n_near > 0)
		add_remark(repeats,
			xformat("%zu sitting%s not count: %s began less than %s after another "
				"one, and what is compared is farther apart",
				n_near, n_near == 1 ? " does" : "s do", n_near == 1 ? "it" : "they",
				time));
}

/* --- What they tell --- */

/* The programs that have a sitting. */
static size_t count_programs(const struct found *found)
{
	size_t n = 0;

	for (size_t k = 0; k < found->n_programs; k++) {
		size_t i = 0;

		while (i < found->n && found->items[i].program != k)
			i++;
		n += i < found->n;
	}
	return n;
}

/* The sum of squares within programs. The levels become deviations from the mean of their program.
 */
static double find_squares(struct found *found)
{
	double squares = 0;

	for (size_t k = 0; k < found->n_programs; k++) {
		double mean = 0;
		size_t n = 0;

		for (size_t i = 0; i < found->n; i++)
			if (found->items[i].program == k)
				mean += (found->items[i].level - mean) / (double)++n;
		for (size_t i = 0; i < found->n; i++) {
			if (found->items[i].program != k)
				continue;
			found->items[i].level -= mean;
			squares += found->items[i].level * found->items[i].level;
		}
	}
	return squares;
}

/* Says where the level of the repeats changes, as that of a program does that was changed. */
static int find_steps(struct learnt *learnt, const struct found *found, size_t n_together)
{
	_cleanup_free_ double *values = xptr(calloc(found->n, sizeof(*values)));
	_cleanup_(levels) struct levels *levels = NULL;
	char change[UNITS_TEXT_SIZE], date[BENCHMARK_DATE_SIZE];
	const struct level *last;
	int r;

	for (size_t i = 0; i < found->n; i++)
		values[i] = found->items[i].level;
	learnt->is_steady_known = found->n >= levels_changes_needed(n_together);
	r = levels_find_changes(values, found->n, n_together, &levels);
	if (r < 0 || levels->n < 2)
		return r;
	last = &levels->items[levels->n - 1];
	units_format_change(expm1(last->median - last[-1].median), change);
	(void)benchmark_format_date(found->items[last->first].date, date);
	learnt->steps = xformat("%s from %.10s on", change, date);
	return 0;
}

static void describe(struct learnt *learnt)
{
	_cleanup_free_ char *time = describe_time(learnt->seconds);
	struct text t = { 0 };

	text_appendf(&t, "this machine, by %zu repeats", learnt->n);
	if (learnt->n_programs > 1)
		text_appendf(&t, " of %zu programs", learnt->n_programs);
	text_appendf(&t, " over %s,", time);
	learnt->why = xptr(text_steal(&t));
}

static int learn(struct repeats *repeats, struct comparison *c, struct found *found)
{
	struct learnt *learnt = &c->learnt;
	size_t n_programs = count_programs(found), n_means = n_programs;
	double df;
	int r;

	if (found->n < 2) {
		add_remark(repeats,
			xformat("nothing is learnt for %s: %s sitting of it counts%s", c->old->name,
				found->n == 0 ? "no" : "one",
				found->n == 0 ? "" : ", and it takes two"));
		return 0;
	}
	if (n_programs == found->n) {
		for (size_t i = 0; i < found->n; i++)
			found->items[i].program = 0;
		n_means = 1;
	}
	df = (double)(found->n - n_means);
	learnt->n = found->n;
	learnt->n_programs = n_programs;
	learnt->deviation = sqrt(find_squares(found) / df);
	learnt->seconds = found->items[found->n - 1].date - found->items[0].date;
	describe(learnt);
	r = find_steps(learnt, found, repeats->n_together);
	if (r < 0)
		return r;
	comparison_learn(c, learnt->deviation, df);
	/* Levels within OLD or NEW may say more. */
	if (!c->resolution.why || c->resolution.share < expm1(c->resolution.deviation))
		c->resolution.why = learnt->why;
	return 0;
}

/* Why what the machine does is not learnt from repeats; NULL where it may be. */
static const char *explain_unlearnt(const struct comparison *c)
{
	if (differences_find_other(c))
		return "the two were measured differently";
	if (c->is_disturbed)
		return "runs of it were mostly disturbed";
	return NULL;
}

int repeats_apply(struct repeats *repeats, struct comparison *comparison,
	const struct benchmark *const *judged, size_t n_judged)
{
	struct comparison *c = comparison;
	struct found found = { 0 }, own = { 0 };
	const char *why;
	int r;

	if (repeats->n == 0 ||
		(c->design != COMPARED_IN_SEQUENCE && c->design != COMPARED_RESULTS_IN_SEQUENCE))
		return 0;
	repeats->n_asked++;
	/* Without a resolution of the machine, there is nothing to learn. */
	if (!c->test || isnan(c->ratio.low) || !(c->of_machine.share > 0))
		return 0;
	why = explain_unlearnt(c);
	if (why) {
		add_remark(repeats, xformat("nothing is learnt for %s: %s", c->old->name, why));
		return 0;
	}
	for (size_t i = 0; i < n_judged; i++)
		add_sittings(&own, judged[i], 0);
	for (size_t i = 0; i < repeats->n; i++) {
		const struct benchmark *b = suite_find(repeats->suites[i], c->old->name);

		if (b && b->n_values > 0)
			add_result(repeats, c, repeats->names[i], b, &own, &found);
	}
	thin_out(repeats, c, &found);
	r = learn(repeats, c, &found);
	found_clear(&found);
	found_clear(&own);
	return r;
}
