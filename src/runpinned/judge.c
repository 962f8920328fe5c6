// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/macro.h"
#include "result/weight.h"
#include "runpinned/judge.h"
#include "stats/stats.h"

enum {
	PAGE_KIB = 4,
	TEARDOWN_NS_PER_PAGE = 1000,
	FLOOR_FACTOR = 8,
};

/* Whether the exit records of all threads of the process are there. */
static bool is_whole(const struct launch_report *report)
{
	const struct tree *tree = &report->tree;

	return report->tree_tried && tree->n_lost == 0 && tree->n_threads == 0 && tree->exit_ns > 0;
}

int64_t judge_window_end(const struct launch_report *report)
{
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

enum window_verdict judge_window(const struct launch_report *report, int64_t floor_reap_ns)
{
	const struct window *w = &report->window;
	int64_t end_ns = judge_window_end(report), allowed;
	bool whole = is_whole(report), main_thread_only = w->n_threads > 0 && !whole;

	if (w->n_exec == 0 || end_ns == 0)
		return WINDOW_MISSING;
	/* The launcher's stamps and the kernel's records use the same clock. */
	if (w->exec_ns < report->start_ns || end_ns <= w->exec_ns || end_ns > report->end_ns)
		return WINDOW_MISSING;
	if (w->n_lost > 0 && !whole)
		return WINDOW_DOUBTFUL;

	allowed = FLOOR_FACTOR * floor_reap_ns + (main_thread_only ? 1 : 5) * NSEC_PER_MSEC +
		find_wait_after_end(report, whole);
	if (!main_thread_only || !report->tree_tried)
		allowed += report->max_rss_kib / PAGE_KIB * TEARDOWN_NS_PER_PAGE;
	return report->end_ns - end_ns > allowed ? WINDOW_DOUBTFUL : WINDOW_SOUND;
}

/* Whether the program waited long enough to be worth telling. Where the kernel does not tell how
 * long anything waited, the switches away from a program with a single task decide; with several
 * tasks they cannot, because tasks of one program take the CPU from each other. */
static bool is_preempted(const struct launch_report *report, const struct weights *weights)
{
	double weight = weights->of[weight_bit(SAMPLE_PREEMPTED)];

	if (!isnan(weight))
		return weight >= WEIGHT_WORTH_SAYING;
	return report->involuntary_switches > 0 && report->window.n_threads == 0 &&
		report->window.n_children == 0;
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
	if (run->window != WINDOW_SOUND && report->window_tried && report->window_error == 0)
		flags |= SAMPLE_WINDOW;
	if (report->leftover)
		flags |= SAMPLE_LEFTOVER;
	if (report->status != 0)
		flags |= SAMPLE_FAILED;
	if (!e)
		return flags;
	weights_find(NULL, &sample, e, &weights);
	if (is_preempted(report, &weights))
		flags |= SAMPLE_PREEMPTED;
	if (e->migrations > 0 ||
		(e->cpu_first >= 0 && e->cpu_last >= 0 && e->cpu_first != e->cpu_last))
		flags |= SAMPLE_MIGRATED;
	if (e->irq_device > 0 || weights.of[weight_bit(SAMPLE_IRQ)] >= WEIGHT_WORTH_SAYING)
		flags |= SAMPLE_IRQ;
	if (e->steal_ns > 0)
		flags |= SAMPLE_STEAL;
	if (run->thermal || e->throttles > 0)
		flags |= SAMPLE_THROTTLED;
	if (e->temperature_after >= (float)run->hot)
		flags |= SAMPLE_HOT;
	return flags;
}

int judge_frequencies(struct series *series)
{
	struct weight_base base;
	int r;

	r = weight_base_find(series, &base);
	if (r < 0)
		return r;
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
	}
	return 0;
}

int judge_whole_core(const struct series *series, double *ret)
{
	_cleanup_free_ double *adds = NULL;
	size_t n = 0;

	*ret = 0;
	if (!series->with_evidence || series->n_samples == 0)
		return 0;
	adds = reallocarray(NULL, series->n_samples, EVIDENCE_N_MOMENTS * sizeof(*adds));
	if (!adds)
		return -ENOMEM;
	for (size_t i = 0; i < series->n_samples; i++)
		for (size_t moment = 0; moment < EVIDENCE_N_MOMENTS; moment++)
			if (series->evidence[i].core_shares[moment] > 0)
				adds[n++] = series->evidence[i].core_shares[moment];
	if (n == 0)
		return 0;
	*ret = stats_best(adds, n) / EVIDENCE_SHARE_PER;
	return 0;
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
