// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/weight.h"
#include "judge/stats/stats.h"
#include "measure/inspect.h"

enum {
	/* What an event on the main thread takes when this thread is switched away from and to
	 * again, when it forks and when it starts a thread; bench/perturb measures it. */
	SWITCH_NS = 1100,
	FORK_NS = 3000,
	THREAD_NS = 2300,
	/* It may take one part in so many of a run. */
	PRICE_PART = 200,
	/* Another thread that ends later than the main thread by less than one part in so many of
	 * the run, or less than so much, makes no difference. */
	LAST_PART = 200,
	LAST_NS = 10 * 1000,
	/* In records a task also runs while the hypervisor runs another guest, which the kernel
	 * tells in steps of 10 ms; other differences are less than one part in so many. */
	STOLEN_NS = 20 * 1000 * 1000,
	UNWAITED_PART = 10,
};

/* Whether tasks took CPU time that nobody has waited for. */
static bool has_unwaited(const struct launch_report *report, const struct evidence *evidence)
{
	int64_t cpu_ns = report->user_cpu_ns + report->system_cpu_ns;
	int64_t stolen_ns = STOLEN_NS + (evidence ? MAX(evidence->steal_ns, (int64_t)0) : 0);

	return report->tree_tried && report->tree.n_lost == 0 && report->tree.n_tasks > 1 &&
		report->tree.ran_ns - cpu_ns > stolen_ns + cpu_ns / UNWAITED_PART;
}

static struct inspection inspect(const struct launch_report *report, enum window_verdict window,
	const struct window_floor *floor)
{
	const struct window *w = &report->window;
	const struct tree *tree = &report->tree;
	int64_t end_ns = judge_window_end(report);
	struct inspection ret = {
		.has_records = report->tree_tried && tree->n_lost == 0,
		.has_lost = report->tree_tried && tree->n_lost > 0,
		.is_sound = window == WINDOW_SOUND,
		.left = report->left,
		.waited_ns = judge_waiting(report, floor),
		.n_tasks = tree->n_tasks,
		.n_switches = tree->n_switches,
		.n_migrations = tree->n_migrations,
	};

	if (window == WINDOW_MISSING)
		return ret;
	ret.window_ns = end_ns - w->exec_ns;
	ret.gap_ns = report->end_ns - report->start_ns - ret.window_ns -
		MAX(report->launcher_delay_ns, (int64_t)0);
	ret.price_ns = (int64_t)tree->n_leader_switches * SWITCH_NS +
		(int64_t)w->n_children * FORK_NS + (int64_t)w->n_threads * THREAD_NS;
	ret.leader_is_last = !ret.has_records ||
		end_ns - w->leader_exit_ns <= MAX(ret.window_ns / LAST_PART, (int64_t)LAST_NS);
	return ret;
}

void inspections_add(struct inspections *inspections, const struct launch_report *report,
	enum window_verdict window, const struct window_floor *floor,
	const struct evidence *evidence)
{
	xcheck(array_grow(&inspections->items, sizeof(*inspections->items), inspections->n,
		&inspections->capacity));
	inspections->items[inspections->n] = inspect(report, window, floor);
	inspections->items[inspections->n].unwaited = has_unwaited(report, evidence);
	if (evidence && evidence->run_delay_ns >= 0)
		inspections->items[inspections->n].waited_ns = weight_find_waited_ns(evidence);
	/* These are more than the moves that the records of the run's CPUs show. */
	if (evidence && evidence->migrations >= 0)
		inspections->items[inspections->n].n_migrations = (uint32_t)evidence->migrations;
	inspections->n++;
}

void inspections_clear(struct inspections *inspections)
{
	free(inspections->items);
	*inspections = (struct inspections){ 0 };
}

bool inspections_have_left(const struct inspections *inspections)
{
	for (size_t i = 0; i < inspections->n; i++) {
		if (inspections->items[i].left)
			return true;
	}
	return false;
}

bool inspections_have_unwaited(const struct inspections *inspections)
{
	for (size_t i = 0; i < inspections->n; i++) {
		if (inspections->items[i].unwaited)
			return true;
	}
	return false;
}

bool inspections_want_more(const struct inspections *inspections)
{
	const struct inspection *last = &inspections->items[inspections->n - 1];

	return !last->is_sound || last->has_lost;
}

enum stamper inspections_choose(const struct inspections *inspections, int64_t bare_ns)
{
	const struct inspection *last;
	int64_t run_ns;

	if (inspections->n == 0)
		return STAMPER_TASK_EVENT;
	last = &inspections->items[inspections->n - 1];
	if (!last->is_sound)
		return STAMPER_LAUNCHER;
	run_ns = bare_ns > 0 ? MIN(bare_ns, last->window_ns) : last->window_ns;
	if (last->has_records && last->leader_is_last && last->price_ns <= run_ns / PRICE_PART)
		return STAMPER_TASK_EVENT;
	return STAMPER_CORRECTED;
}

bool inspections_find_gap(const struct inspections *inspections, struct inspection_gap *ret)
{
	_cleanup_free_ double *gaps = xptr(reallocarray(NULL, inspections->n + 1, sizeof(*gaps)));
	size_t n = 0;
	bool any_bare = false;

	/* Records make the gap longer, too. */
	for (size_t i = 0; i < inspections->n; i++)
		any_bare = any_bare ||
			(inspections->items[i].is_sound && !inspections->items[i].has_records);
	for (size_t i = 0; i < inspections->n; i++) {
		const struct inspection *one = &inspections->items[i];

		if (one->is_sound && !(any_bare && one->has_records))
			gaps[n++] = (double)one->gap_ns;
	}
	if (n == 0)
		return false;
	stats_sort(gaps, n);
	*ret = (struct inspection_gap){
		.median_ns = llround(stats_median(gaps, n)),
		.spread_ns =
			llround(stats_percentile(gaps, n, 0.75) - stats_percentile(gaps, n, 0.25)),
	};
	return true;
}

/* The median of a figure over the inspections with records, or of those without; NAN when there are
 * none. `values` has room for one number each. */
static double find_median(const struct inspections *inspections, bool with_records,
	double (*get)(const struct inspection *inspection), double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < inspections->n; i++) {
		const struct inspection *one = &inspections->items[i];

		if (one->is_sound && one->has_records == with_records && !isnan(get(one)))
			values[n++] = get(one);
	}
	if (n == 0)
		return NAN;
	stats_sort(values, n);
	return stats_median(values, n);
}

static double get_seconds(const struct inspection *one)
{
	return (double)one->window_ns / (double)NSEC_PER_SEC;
}

static double get_waited(const struct inspection *one)
{
	return one->waited_ns < 0 ? NAN : (double)one->waited_ns / (double)one->window_ns;
}

static double get_tasks(const struct inspection *one)
{
	return one->n_tasks;
}

static double get_switches(const struct inspection *one)
{
	return one->n_switches;
}

static double get_migrations(const struct inspection *one)
{
	return one->n_migrations;
}

void inspections_describe(const struct inspections *inspections, bool all_have_records,
	double typical_seconds, struct facts *facts)
{
	static const struct {
		const char *name;
		double (*get)(const struct inspection *inspection);
	} counts[] = {
		{ "quiesce_inspected_tasks", get_tasks },
		{ "quiesce_inspected_switches", get_switches },
		{ "quiesce_inspected_migrations", get_migrations },
	};
	_cleanup_free_ double *values =
		xptr(reallocarray(NULL, inspections->n + 1, sizeof(*values)));
	double seconds = find_median(inspections, true, get_seconds, values);

	if (isnan(seconds))
		return;
	if (all_have_records)
		facts_set_real(facts, "quiesce_inspected_price",
			typical_seconds / find_median(inspections, false, get_seconds, values) - 1);
	else
		facts_set_real(facts, "quiesce_inspected_price", seconds / typical_seconds - 1);
	facts_set_real(facts, "quiesce_inspected_waited",
		find_median(inspections, true, get_waited, values));
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		facts_set_integer(facts, counts[i].name,
			llround(find_median(inspections, true, counts[i].get, values)));
}
