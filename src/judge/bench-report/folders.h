/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders on the command line, which stand for the results in them. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_FOLDERS_H
#define QUIESCE_JUDGE_BENCH_REPORT_FOLDERS_H

#include "judge/bench-report/bench-report.h"

/* All zero: empty. */
struct file_names {
	char **items;
	size_t n;
};

/* The files of a request, with those of a folder that end in .json or .json.gz, by name, instead of
 * the folder, but without the one that the request is to write. Says what is wrong: -ENOENT when a
 * folder has none. */
int folders_expand(const struct request *request, struct file_names *ret);
void folders_clear(struct file_names *names);
#define _cleanup_folders_ __attribute__((cleanup(folders_clear)))

#endif
