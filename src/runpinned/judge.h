/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What speaks against a run, and may the kernel's window of it be believed?
 */
#ifndef QUIESCE_RUNPINNED_JUDGE_H
#define QUIESCE_RUNPINNED_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "result/series.h"
#include "runpinned/launch.h"

enum window_verdict {
	WINDOW_SOUND,
	/* A window is there, but the process seems to have lived on after its end: the main thread
	 * ended first, or executed another program from a second thread, or the kernel dropped the
	 * event. Or the launcher was kept waiting for its CPU, which looks the same. */
	WINDOW_DOUBTFUL,
	WINDOW_MISSING, /* no exec or exit record, records lost, or an order that cannot be */
};

/*
 * floor_reap_ns is how long after the exit record our own stamp came for the empty program. After
 * the record the kernel still tears the address space down, so that more is allowed for a program
 * that used more memory (1 us a page, several times what zap_pte_range() takes), and 5 ms for
 * whatever else held up the end of a program with a single thread; one with threads gets 1 ms,
 * because its main thread may really have ended first.
 */
enum window_verdict judge_window(const struct launch_report *report, int64_t floor_reap_ns);

/* What is known of a run. */
struct run_facts {
	const struct launch_report *report;
	enum window_verdict window;
	const struct evidence *evidence; /* NULL: none was taken, and what follows is not known */
	bool thermal;			 /* the CPU interrupted itself for its heat */
	double hot;			 /* from this on the package is */
};

/* The flags of the run (enum sample_flag), except SAMPLE_FREQ: see judge_frequencies(). */
uint16_t judge_run(const struct run_facts *run);
/*
 * Sets SAMPLE_FREQ in the runs whose frequency is more than 1 % off the median frequency of all
 * runs; warm-ups do not count, and get no flag. The median is known only when all runs have been
 * made, so this is called once after the last run, and judge_run() after each run. Needs 8 bytes
 * a run while it works. 0 or -ENOMEM.
 */
int judge_frequencies(struct series *series);

#endif
