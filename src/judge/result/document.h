/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result file: pyperf's JSON, version "1.0" (pyperf 2.10: _bench.py, _metadata.py), UTF-8.
 *
 *	{"version": "1.0", "benchmarks": [{"metadata": {...}, "runs": [
 *	{"values": [0.0123], "metadata": {...}},
 *	...]}]}
 *
 * A run of ours is a run of pyperf with one value in seconds and loops = 1. A warm-up is a run
 * without values, {"warmups": [[1, 0.0130]], "metadata": {"calibrate_warmups": 1, ...}}: pyperf
 * takes it for a calibration run, which all of its commands show or count as such and none mixes
 * with the values. calibrate_warmups is the number of warm-ups.
 *
 * Metadata of a benchmark hold for all of its runs, unless a run says otherwise itself. What each
 * run has, where it is known, is the table of judge/result/runfact.c; quiesce-result(5) has it in
 * words, and what the benchmark itself has: unit = "second", and the clock of the values, in
 * quiesce_clock. A benchmark of values that a program measured itself (struct document_part) has
 * all values of a run in that run, its warm-ups beside them, and `loops` in each run; instead of
 * quiesce_clock it has inner_loops and quiesce_stamps.
 */
#ifndef QUIESCE_JUDGE_RESULT_DOCUMENT_H
#define QUIESCE_JUDGE_RESULT_DOCUMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "judge/result/benchmark.h"
#include "judge/result/reader.h"
#include "judge/result/series.h"

/*
 * Reads and validates a file to append to: a file that pyperf would not load is refused. What its
 * runs say is kept as it stands there (suite_read_kept()), so that members with unknown names
 * survive.
 * -EINVAL when the file is refused; *ret_why (never NULL then, malloc'd, safe for a terminal) is
 * one phrase: "1:18: no pyperf result: 'benchmarks' are missing" (line and column). Other failures
 * are errors of open(2) or read(2), -EFBIG above 4 GiB; *ret_why is not touched then.
 */
int document_load(const char *path, struct suite **ret, char **ret_why);
/* The same for a file that is to be merged, which may also be compressed, a FIFO, or "-" for
 * standard input (judge/result/input.h), and a result of another tool or format: it is made one of
 * pyperf's format 1.0. */
int document_read(struct input *input, struct suite **ret, char **ret_why);

/*
 * May a series with these metadata be appended? Ask before the first run, so that no measurement is
 * lost because it cannot be saved. A benchmark of the same name gets the runs. pyperf demands that
 * certain metadata are the same in all runs of a benchmark (aslr, cpu_count, cpu_model_name,
 * hostname, inner_loops, name, platform, python_*, unit), and we demand that the clock is the same.
 * A series of another name becomes a new benchmark and can always be appended. -EINVAL with
 * *ret_why (malloc'd) when it cannot: "metadata 'hostname' differ: "a" in the file, "b" now".
 */
int document_check_append(
	const struct suite *existing, const struct facts *metadata, char **ret_why);

/* The clock of the runs of the benchmark with that name; -ENOENT when there is no such benchmark or
 * no run tells a clock. Where the clock is WINDOW_USER, a series can be made to agree by setting
 * series->clock, because every sample has that window. */
int document_find_clock(const struct suite *existing, const char *name, enum window_clock *ret);

/* A text in the metadata that all runs of the benchmark with that name share, malloc'd: with the
 * key BENCHMARK_CONTROL "runpinned-control 256". NULL where there is no such benchmark, or no such
 * text. */
char *document_find_string(const struct suite *existing, const char *name, const char *key);

/* A benchmark that is to be written. */
struct document_part {
	const struct series *series;
	const struct facts *metadata;
	/* NULL: the values are those of the series. Else a benchmark over the same runs, with the
	 * values that the program measured itself. Runs without such a value are left out, and so
	 * is quiesce_clock. */
	const struct benchmark *inside;
};

/*
 * Writes a whole file: the existing one (or NULL for none) and n >= 1 benchmarks, whose names
 * differ, and flushes. Runs are written one by one: memory does not grow with the series. Values
 * of the existing file are written as they stand there, in one line for each run, except that tabs
 * and carriage returns between values become blanks. metadata need "name"; keys that pyperf knows
 * need pyperf's type (loops and the like are integers above 0, durations are numbers, date is a
 * string). Texts are made valid for the file: bytes that are not UTF-8 and control characters
 * become \xNN, and a text of blanks only is left out. Metadata of the existing suite move to its
 * benchmarks, and those that do not hold for the new runs of a benchmark to the old ones, so that
 * the file says the same about these. Errors before anything is written: -EINVAL for no benchmark,
 * two of one name, metadata that pyperf would refuse, or where document_check_append() refuses
 * (clock included); -ENODATA for a series without a sample; -EDOM when a value is not above 0,
 * which pyperf does not load. Later: the error of the stream, such as -ENOSPC or -EPIPE.
 */
int document_write(
	FILE *stream, const struct suite *existing, const struct document_part *parts, size_t n);

/*
 * Several files as one. Benchmarks of the same name become one benchmark with the runs of all, in
 * the order of the files; metadata that all of its runs share stand once. Members with unknown
 * names stay, those of a benchmark and of the whole as the first file with such a member has them.
 *
 * Machines, sittings and runs stay distinguishable: where machines differ, the hostname, cpu_count,
 * cpu_model_name and platform are written into each run as quiesce_hostname and so on, because
 * pyperf demands that hostname and so on are the same in all runs. Each run has a quiesce_sitting:
 * its own, or one made for its file.
 */
struct merge;

struct merge *merge_new(void);
/* Reads a file as document_read() does; also -EINVAL with *ret_why (malloc'd) where its runs do not
 * agree with the runs of the files before (document_check_append()). */
int merge_add(struct merge *merge, const char *path, struct input *input, char **ret_why);
/* What the file that was added last had to be read without, as in struct suite. */
const struct facts *merge_left_out(const struct merge *merge);
/* Writes all that was added, at least one file. The error of the stream. */
int merge_write(const struct merge *merge, FILE *stream);
/* The name of the first benchmark from number *index on whose runs are stamped in several ways
 * (quiesce_stamped_by), and moves *index behind it; NULL when there is none. */
const char *merge_next_mixed(const struct merge *merge, size_t *index);
void merge_free(struct merge *merge);
DEFINE_CLEANUP(merge, merge_free);

#endif
