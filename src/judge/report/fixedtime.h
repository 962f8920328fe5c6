/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs whose time does not depend on their work: most harnesses and load generators measure for
 * a time that was chosen, and twice the work is not slower then. Two signs of it:
 *
 * - the output has figures that a harness knows, which runpinned has found out
 *   (METADATA_OWN_FIGURES);
 * - the interval of the times' ratio holds 1, while the programs clearly differ in what they have
 *   done: in CPU time by a fifth or more, and by more than three times what the times leave open,
 *   so that a program that worked all the time would have shown it; in instructions by as much,
 *   where both waited for a tenth of their time or more; or in the size of their output by a half
 *   and 16 KiB. A program that works on several CPUs at a time may hide work, so this sign is
 *   looked for on a single CPU only.
 *
 * Times that are equal are no sign: those of one program are.
 */
#ifndef QUIESCE_JUDGE_REPORT_FIXEDTIME_H
#define QUIESCE_JUDGE_REPORT_FIXEDTIME_H

#include "judge/result/benchmark.h"

/* "wrk reports its own figures; --harness wrk compares them", malloc'd. */
char *fixedtime_text(const char *harness);

/*
 * Why the times of two programs, whose ratio is within low and high, say nothing of their work,
 * malloc'd; NULL without a sign, and where they are no times of whole runs, or were asked for by
 * their name. Without an interval (NAN) only the first sign is looked for. Ends the command without
 * memory.
 */
char *fixedtime_find(
	const struct benchmark *old, const struct benchmark *new, double low, double high);

#endif
