/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer of an earlier look at histories (trend --json), and which of its results are gone or
 * have others between them now. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_EARLIER_H
#define QUIESCE_JUDGE_BENCH_REPORT_EARLIER_H

#include <stddef.h>

#include "base/cleanup.h"
#include "judge/report/trend.h"

struct earlier {
	char **files; /* without their folders; sorted, each of them once */
	size_t n;
	/* Set by earlier_compare(); borrowed. */
	char **gone; /* of `files`, those that are not looked at now */
	size_t n_gone;
	/* New files that a file of the earlier answer follows, in the order in which they were
	 * given. */
	char **between;
	size_t n_between;
};

/* Says what is wrong with the file. A negative errno. */
int earlier_read(const char *path, struct earlier **ret);
/* `files` are all n that are looked at now, also those that are in none of the histories. */
void earlier_compare(
	struct earlier *earlier, const struct trends *trends, char *const *files, size_t n_files);
void earlier_free(struct earlier *earlier);
DEFINE_CLEANUP(earlier, earlier_free);

#endif
