// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/weight.h"
#include "judge/stats/stats.h"
#include "measure/judge.h"
#include "measure/tree.h"

enum {
	PAGE_KIB = 4,
	TEARDOWN_NS_PER_PAGE = 1000,
	FLOOR_FACTOR = 8,
	/* No program ends after its last exec in one part in so many of the time of the empty one.
	 */
	LEAST_PART = 8,
	/* The CPUs had no more time than the window has, but for one part in so many of it: two
	 * clocks tell these. */
	MORE_CPU_PART = 100,
	/* Sums of CPU time of the same tasks differ by no more than this: two are rounded to
	 * microseconds, and where the kernel counts time in user mode by itself, by a part. */
	SAME_CPU_NS = 4000,
	SAME_CPU_PART = 1000,
};

/* Whether the exit records of all threads of the process are there. */
static bool is_whole(const struct launch_report *report)
{
	const struct tree *tree = &report->tree;

	return report->tree_tried && tree->n_lost == 0 && tree->n_threads == 0 && tree->exit_ns > 0;
}

int64_t judge_window_end(const struct launch_report *report)
{
	if (report->window.is_last)
		return report->window.exit_ns;
	if (is_whole(report))
		return MAX(report->window.exit_ns, report->tree.exit_ns);
	if (report->window.n_lost > 0)
		return report->end_ns;
	return report->window.n_exit == 1 ? report->window.exit_ns : 0;
}

/*
 * How long the program and the launcher are known to have waited for their CPU after the last exit
 * record: on a busy machine this is longer than everything else. The kernel's records end with the
 * exit record, so the main thread's total waiting minus its waiting before that record is its
 * waiting after it.
 */
static int64_t find_wait_after_end(const struct launch_report *report, bool whole)
{
	int64_t waited = MAX(report->launcher_delay_ns, INT64_C(0));

	if (whole && report->run_delay_ns > report->tree.leader_waited_ns)
		waited += report->run_delay_ns - report->tree.leader_waited_ns;
	return waited;
}

/* How long freeing the memory of the program may take. */
static int64_t teardown_ns(const struct launch_report *report)
{
	return report->max_rss_kib / PAGE_KIB * TEARDOWN_NS_PER_PAGE;
}

static int64_t cpu_ns(const struct launch_report *report)
{
	return report->user_cpu_ns + report->system_cpu_ns;
}

enum window_verdict judge_window(
	const struct launch_report *report, const struct window_floor *floor)
{
	const struct window *w = &report->window;
	int64_t end_ns = judge_window_end(report), allowed;
	bool whole = is_whole(report), main_thread_only = w->n_threads > 0 && !whole;

	if (w->n_exec == 0 || end_ns == 0)
		return WINDOW_MISSING;
	/* The launcher's stamps and the kernel's use the same clock. */
	if (w->exec_ns < report->start_ns || end_ns <= w->exec_ns || end_ns > report->end_ns)
		return WINDOW_MISSING;
	if (w->is_last)
		return WINDOW_SOUND;
	if (end_ns - w->last_exec_ns < floor->run_ns / LEAST_PART)
		return WINDOW_MISSING;
	if (w->n_lost > 0 && !whole)
		return WINDOW_DOUBTFUL;
	if (floor->one_cpu && !report->left &&
		cpu_ns(report) >
			end_ns - w->exec_ns + FLOOR_FACTOR * floor->gap_ns + teardown_ns(report))
		return WINDOW_DOUBTFUL;

	allowed = FLOOR_FACTOR * floor->reap_ns + find_wait_after_end(report, whole);
	if (w->n_exec == 1)
		allowed += (main_thread_only ? 1 : 5) * NSEC_PER_MSEC;
	if (!main_thread_only || !report->tree_tried)
		allowed += teardown_ns(report);
	return report->end_ns - end_ns > allowed ? WINDOW_DOUBTFUL : WINDOW_SOUND;
}

/* The kernel's window, or our own where there is none. */
static int64_t find_window_ns(const struct launch_report *report)
{
	int64_t end_ns = judge_window_end(report);

	if (report->window.n_exec == 0 || end_ns <= report->window.exec_ns)
		return report->end_ns - report->start_ns;
	return end_ns - report->window.exec_ns;
}

/* How much of the CPU time of the run lies outside of the window: what our own stamps have beyond
 * it, but no more than the empty program has, and what the memory may take. The rest is waiting. */
static int64_t find_outside_ns(const struct launch_report *report, const struct window_floor *floor)
{
	int64_t gap_ns = report->end_ns - report->start_ns - find_window_ns(report);

	return MIN(gap_ns, floor->gap_ns + teardown_ns(report));
}

/* Whether the program was a single task, as far as it is known. Without the kernel's stamps it is
 * seen from the main thread having used all the CPU time, to the microseconds of the two sums. */
static bool is_single_task(const struct launch_report *report)
{
	const struct window *w = &report->window;

	if (report->unwaited)
		return false;
	if (w->n_exec > 0)
		return w->n_lost == 0 && w->n_threads == 0 && w->n_children == 0;
	return report->leader_ran_ns >= 0 &&
		cpu_ns(report) - report->leader_ran_ns <=
		SAME_CPU_NS + report->leader_ran_ns / SAME_CPU_PART;
}

bool judge_left(const struct launch_report *report, const struct window_floor *floor,
	const struct cpumask *cpus)
{
	const struct window *w = &report->window;
	int64_t window_ns = find_window_ns(report);

	if (report->left || (w->cpu_exec >= 0 && !cpumask_isset(cpus, w->cpu_exec)) ||
		(w->cpu_exit >= 0 && !cpumask_isset(cpus, w->cpu_exit)))
		return true;
	return cpu_ns(report) - FLOOR_FACTOR * floor->gap_ns - teardown_ns(report) >
		(int64_t)cpumask_weight(cpus) * (window_ns + window_ns / MORE_CPU_PART);
}

int64_t judge_off_cpu(const struct launch_report *report, const struct window_floor *floor)
{
	if (!floor->one_cpu || report->unwaited || (report->left && !is_single_task(report)))
		return -1;
	return MAX(find_window_ns(report) - cpu_ns(report) + find_outside_ns(report, floor),
		(int64_t)0);
}

int64_t judge_waiting(const struct launch_report *report, const struct window_floor *floor)
{
	int64_t waited_ns = report->run_delay_ns;

	/* The records are those of the CPUs that it was given. */
	if (report->tree_tried && !report->left)
		waited_ns = tree_waited(report);
	else if (!is_single_task(report))
		return -1;
	if (waited_ns >= 0)
		waited_ns = MAX(waited_ns - MAX(report->reader_cpu_ns, (int64_t)0), (int64_t)0);
	/* A task does not wait while it runs. */
	if (waited_ns >= 0 && is_single_task(report) && report->leader_ran_ns >= 0)
		waited_ns = MIN(waited_ns,
			MAX(find_window_ns(report) - report->leader_ran_ns +
					find_outside_ns(report, floor),
				(int64_t)0));
	/* The records take time at each switch, in which no task runs. */
	if (waited_ns >= 0 && floor->one_cpu && !report->unwaited)
		waited_ns = MIN(waited_ns, judge_off_cpu(report, floor));
	return waited_ns;
}

/* Whether the program waited long enough to be worth telling. Where the kernel does not tell how
 * long anything waited, the switches away from a program with a single task decide; with several
 * tasks they cannot, because tasks of one program take the CPU from each other. */
static bool is_preempted(const struct launch_report *report, const struct weights *weights)
{
	double weight = weights->of[weight_bit(SAMPLE_PREEMPTED)];

	if (!isnan(weight))
		return weight >= WEIGHT_WORTH_SAYING;
	/* Where a quota stops the program, a switch away is no other program's. */
	if (weights->of[weight_bit(SAMPLE_QUOTA)] > 0)
		return false;
	return report->involuntary_switches > 0 && report->reader_cpu_ns <= 0 &&
		is_single_task(report);
}

uint16_t judge_run(const struct run_facts *run)
{
	const struct launch_report *report = run->report;
	const struct evidence *e = run->evidence;
	const struct sample sample = {
		.user_ns = report->end_ns - report->start_ns,
		.kernel_ns = run->window != WINDOW_MISSING
			? judge_window_end(report) - report->window.exec_ns
			: 0,
	};
	struct weights weights;
	uint16_t flags = 0;

	/* If the kernel provides no window for any run, the missing window does not count against
	 * this run. */
	if (run->window != WINDOW_SOUND && report->stamper != STAMPER_LAUNCHER &&
		report->window_error == 0)
		flags |= SAMPLE_WINDOW;
	if (report->leftover)
		flags |= SAMPLE_LEFTOVER;
	if (report->status != 0)
		flags |= SAMPLE_FAILED;
	if (!e)
		return flags;
	weights_find(NULL, &sample, e, &weights);
	/* Shares of the core are none before judge_core_shares(). */
	flags |= weight_flags(e, &weights) & (uint16_t)~SAMPLE_SHARED;
	if (is_preempted(report, &weights))
		flags |= SAMPLE_PREEMPTED;
	if (run->thermal)
		flags |= SAMPLE_THROTTLED;
	if (e->temperature_after >= (float)run->hot)
		flags |= SAMPLE_HOT;
	return flags;
}

void judge_frequencies(struct series *series)
{
	struct weight_base base;

	weight_base_find(series, &base);
	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++) {
		struct sample *sample = &series->samples[i];
		struct weights weights;

		if (sample->warmup)
			continue;
		weights_find(&base, sample, &series->evidence[i], &weights);
		if (weights.of[weight_bit(SAMPLE_FREQ)] > WEIGHT_WORTH_SAYING)
			sample->flags |= SAMPLE_FREQ;
		if (weights.of[weight_bit(SAMPLE_CLOCK)] > WEIGHT_WORTH_SAYING)
			sample->flags |= SAMPLE_CLOCK;
		if (series->evidence[i].run_delay_ns < 0 &&
			weights.of[weight_bit(SAMPLE_PREEMPTED)] >= WEIGHT_WORTH_SAYING)
			sample->flags |= SAMPLE_PREEMPTED;
	}
}

double judge_whole_core(const struct series *series)
{
	_cleanup_free_ double *adds = NULL;
	size_t n = 0;

	if (!series->with_evidence || series->n_samples == 0)
		return 0;
	adds = xptr(reallocarray(NULL, series->n_samples, EVIDENCE_N_MOMENTS * sizeof(*adds)));
	for (size_t i = 0; i < series->n_samples; i++)
		for (size_t moment = 0; moment < EVIDENCE_N_MOMENTS; moment++)
			if (series->evidence[i].core_shares[moment] > 0)
				adds[n++] = series->evidence[i].core_shares[moment];
	return n > 0 ? stats_best(adds, n) / EVIDENCE_SHARE_PER : 0;
}

static void make_share(int32_t *share, double whole)
{
	if (*share > 0)
		*share = (int32_t)lround(MIN(*share / whole, (double)EVIDENCE_SHARE_PER));
}

void judge_core_shares(struct series *series, double whole)
{
	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++) {
		struct evidence *evidence = &series->evidence[i];

		for (size_t moment = 0; moment < EVIDENCE_N_MOMENTS; moment++)
			make_share(&evidence->core_shares[moment], whole);
		if (evidence_is_shared(evidence))
			series->samples[i].flags |= SAMPLE_SHARED;
	}
}
