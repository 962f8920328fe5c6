/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a verb looks at: which they are, and what is in them. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_FILES_H
#define QUIESCE_JUDGE_BENCH_REPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/bench-report/bench-report.h"
#include "judge/result/emit.h"
#include "judge/result/reader.h"

/* The name of a file in messages: "standard input" for "-". */
const char *file_label(const char *file);

/* Folders on the command line stand for the results in them. All zero: empty. */
struct file_names {
	char **items;
	size_t n;
	bool has_folder; /* some were found in a folder */
};

/* The files of a request, with those of a folder that end in .json or .json.gz, by name, instead of
 * the folder, but without the one that the request is to write, and asv's machine.json. Says what
 * is wrong: -ENOENT when a folder has none. */
int folders_expand(const struct request *request, struct file_names *ret);
void folders_clear(struct file_names *names);
#define _cleanup_folders_ __attribute__((cleanup(folders_clear)))

/* Says which benchmarks of a file are left out, and why (struct suite). */
void say_left_out(const char *file, const struct facts *left_out);
/* The result of one file. Says what is wrong and returns a negative errno. */
int report_read(
	const struct request *request, const char *file, bool with_evidence, struct suite **ret);
/* The results of all files, read one after the other. Says what is wrong and returns a negative
 * errno. */
struct reports {
	struct suite **suites; /* one for each file of the request */
	size_t n;
};
int reports_read(const struct request *request, bool with_evidence, struct reports *ret);
/* The same without evidence, of results of many days or commits, some of which may have nothing to
 * tell: where all benchmarks of a file failed, it has none here. Of benchmarks that are left out
 * only the first are said one by one. */
int reports_read_history(const struct request *request, struct reports *ret);
void reports_clear(struct reports *reports);

static inline void cleanup_reports(struct reports *reports)
{
	reports_clear(reports);
}
#define _cleanup_reports_ __attribute__((cleanup(cleanup_reports)))

/* Says that no benchmark has the name of -b, and what names there are. */
void reports_say_none(const struct request *request, const struct reports *reports);
/* Calls `each` for every benchmark that the request selects, file by file. Stops at the first
 * failure and returns it. -ENOENT, after saying so, when no file has the benchmark of -b. */
int reports_each(const struct request *request, const struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context);
/* The same for verbs that print text, or with --json one object that has the array `name`: then
 * `each` writes an element of that array. */
int reports_each_emit(const struct request *request, const struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context, struct emit *emit, const char *name);

/* The title of a benchmark: "FILE: NAME", or "NAME" when there is only one file; malloc'd. */
char *reports_title(
	const struct request *request, const char *file, const struct benchmark *benchmark);

/* The exit status for the return value r of a function. Says what r means unless it is -ENOENT,
 * which was said before. Also says, and fails, when standard output could not be written. */
enum exit_status request_conclude(const struct request *request, int r);

#endif
