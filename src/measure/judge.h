/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which flags a run gets, and whether the kernel's window of the run can be trusted.
 */
#ifndef QUIESCE_MEASURE_JUDGE_H
#define QUIESCE_MEASURE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/machine/cpumask.h"
#include "judge/result/series.h"
#include "measure/launch.h"

enum window_verdict {
	WINDOW_SOUND,
	/* There is a window, but the process seems to have lived on after the end of the window:
	 * because the kernel dropped the event, or, where there are no exit records of all threads,
	 * because the main thread ended before other threads. Or the exit record was lost with
	 * others. */
	WINDOW_DOUBTFUL,
	/* No exec or exit record, an impossible order of records, or an exit record of an event
	 * that the kernel has dropped in the middle of execve(2). */
	WINDOW_MISSING,
};

/*
 * The end of the kernel's window: the exit record of the process's last thread. Where the records
 * of all threads are not known, it is the exit record of the main thread; where this was lost
 * because there was no room for it, the stamp after wait4(2), which is too late. 0 when there is no
 * end.
 */
int64_t judge_window_end(const struct launch_report *report);
/* Of the empty program, measured in the same way. */
struct window_floor {
	int64_t run_ns;	 /* its window */
	int64_t reap_ns; /* from the end of the window to the stamp after waitid(2) */
	int64_t gap_ns;	 /* all that our own stamps have beyond the window */
	bool one_cpu;	 /* the runs have a single CPU */
};

/*
 * The stamps of tracepoints and of events of the CPUs are believed, unless their order is
 * impossible. What follows is about an event on the main thread.
 *
 * After the exit record the kernel still has to free the address space, so a program
 * that used more memory is allowed more time: 1 us for each page, several times what
 * zap_pte_range() takes. In addition, 5 ms are allowed for other delays at the end of a program
 * whose last thread's exit is known. For a program with several threads of which only the main
 * thread's exit is known it is 1 ms, because its main thread may really have ended first. If this
 * is because records were lost, nothing is allowed for the memory: work of another thread could
 * hide in that allowance, and the next runs will have room for the records. The time that the
 * launcher waited for its CPU meanwhile is not the program's, and is allowed too.
 *
 * A program that executes another one may have lost its event then, because that one gains
 * privileges or may not be read (program.h): nothing is allowed for delays of unknown cause. The
 * kernel then writes the exit record some 10 us after that of the exec, where a static program of a
 * few instructions takes more than a quarter of what the empty one does. And on
 * one CPU no window is sound that is shorter than the CPU time of the run, less what the kernel
 * needs before and after it.
 */
enum window_verdict judge_window(
	const struct launch_report *report, const struct window_floor *floor);

/*
 * How long the program waited for its CPUs within its window; -1 when it is not known.
 *
 * Of a program that consists of a single task, this is the kernel's sum of the waiting of the main
 * thread (/proc/PID/schedstat), as far as the window has room for it beside the CPU time of the
 * thread: the sum begins before exec and ends when the process is gone. Of a program with several
 * tasks it is known from the records of all tasks only (tree.h), since a task that waits for
 * another task of the program is no disturbance. Nor is the reader of its output that it shares its
 * CPUs with: so much of the waiting as the reader ran is taken for waiting for the reader.
 */
int64_t judge_waiting(const struct launch_report *report, const struct window_floor *floor);
/* How long none of the program's tasks ran, on a single CPU: because it waited for the CPU, or
 * slept. -1 when it is not known, as where CPU time was used that nobody has waited for. */
int64_t judge_off_cpu(const struct launch_report *report, const struct window_floor *floor);

/*
 * Whether a task of the program is known to have been on CPUs that are none of `cpus`, by what the
 * kernel tells of the main thread and of the sum of all tasks: where the main thread was allowed to
 * run at its end, where the last thread ended, and more CPU time than these CPUs have. What
 * judge_waiting() and judge_off_cpu() tell of such a run is known of a program of one task only.
 */
bool judge_left(const struct launch_report *report, const struct window_floor *floor,
	const struct cpumask *cpus);

/* What judge_run() decides from. */
struct run_facts {
	const struct launch_report *report;
	enum window_verdict window;
	/* NULL: no evidence was taken; then the fields below are not set */
	const struct evidence *evidence;
	bool thermal; /* the CPU raised a thermal interrupt */
	/* A package of at least this temperature is hot, in degrees Celsius. */
	double hot;
};

/* The flags of the run (enum sample_flag), except those that the functions below set. */
uint16_t judge_run(const struct run_facts *run);

/* The following are called once after the last run, because they look at all of them. */

/*
 * Sets SAMPLE_PREEMPTED in the runs whose waiting is only estimated (judge/result/weight.h),
 * SAMPLE_FREQ in those whose frequency is more than 1 % off the median frequency of all runs, and
 * SAMPLE_CLOCK in those whose core's clock is; warm-ups do not count, and get no flag. Needs 8
 * bytes a run while it works.
 */
void judge_frequencies(struct series *series);
/*
 * How many independent additions per cycle the core did when it was whole, as far as these runs can
 * tell (stats_best()); 0 when no run has a figure.
 */
double judge_whole_core(const struct series *series);
/* Makes shares of the additions per cycle that evidence_take() left in the evidence, and sets
 * SAMPLE_SHARED in the runs with less than 90 % of a whole core. */
void judge_core_shares(struct series *series, double whole);

#endif
