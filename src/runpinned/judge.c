// SPDX-License-Identifier: GPL-2.0-or-later
#include "runpinned/judge.h"
#include "basic/macro.h"

enum {
	PAGE_KIB = 4,
	TEARDOWN_NS_PER_PAGE = 1000,
	FLOOR_FACTOR = 8,
};

enum window_verdict judge_window(const struct launch_report *report, int64_t floor_reap_ns)
{
	const struct window *w = &report->window;
	int64_t allowed;

	if (w->n_lost > 0 || w->n_exec == 0 || w->n_exit != 1)
		return WINDOW_MISSING;
	/* The stamps of both sides are of one clock. */
	if (w->exec_ns < report->start_ns || w->exit_ns <= w->exec_ns ||
		w->exit_ns > report->end_ns)
		return WINDOW_MISSING;

	allowed = FLOOR_FACTOR * floor_reap_ns +
		report->max_rss_kib / PAGE_KIB * TEARDOWN_NS_PER_PAGE +
		(w->n_threads > 0 ? 1 : 5) * NSEC_PER_MSEC;
	return report->end_ns - w->exit_ns > allowed ? WINDOW_DOUBTFUL : WINDOW_SOUND;
}
