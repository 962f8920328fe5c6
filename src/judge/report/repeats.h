/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine may do between two sittings, learnt from its own repeats: results of a program
 * that were measured there at other times. Each sitting is one number, the median of its runs as a
 * logarithm; their variance within each program is that of a sitting, with as many degrees of
 * freedom as there are sittings more than programs. So few repeats give a wide interval, and how
 * fast or slow a program is does not matter. Each benchmark is judged by its own repeats: what
 * moves one of them by 1 % may move another one by 5 %.
 *
 * A sitting counts where it has a value for the benchmark, a date, and no setting of the machine or
 * of the measurement that differs from that of OLD; each sitting counts once, and that of NEW,
 * which is to be judged, not at all. OLD may be among them: its sitting is one of the unchanged
 * program's, and the claims are then fewer than promised. Sittings of one hour
 * tell nothing of another day: of those that are nearer to each other than half the distance
 * between OLD and NEW, or than half a day, the first one counts. Programs are told apart by their
 * commit and by the version of Python. Where that is not known, or where each sitting has a program
 * of its own, as in a history of commits, all are taken for one: what was changed then makes the
 * variance larger.
 *
 * Nothing is learnt for OLD and NEW that were measured differently, or whose runs were mostly
 * disturbed. Sittings are taken for independent and normal: of a state of the machine that none of
 * the repeats has seen, they tell nothing.
 */
#ifndef QUIESCE_JUDGE_REPORT_REPEATS_H
#define QUIESCE_JUDGE_REPORT_REPEATS_H

#include <stddef.h>

#include "judge/report/comparison.h"
#include "judge/result/reader.h"

struct repeats {
	struct suite *const *suites; /* borrowed */
	char *const *names;	     /* of their files, as they are to be printed; borrowed */
	size_t n;
	size_t n_together; /* comparisons that are made together */
	/* Which repeats do not count, and for which benchmarks nothing is learnt, and why; each
	 * once. */
	char **remarks;
	size_t n_remarks;
	size_t n_asked; /* comparisons of what was measured one after the other */
};

/* Learns, where repeats allow that, how the machine of a comparison varies whose results were
 * measured one after the other; comparison_settle() is to follow. Other comparisons are left as
 * they are. `judged` are the results of NEW. Errors as of levels_find_changes(). */
int repeats_apply(struct repeats *repeats, struct comparison *comparison,
	const struct benchmark *const *judged, size_t n_judged);
void repeats_clear(struct repeats *repeats);

#endif
