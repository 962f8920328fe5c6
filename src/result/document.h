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
 * Metadata of a benchmark hold for all of its runs; a run's own come on top. In a run stand, where
 * they are known:
 *	date, duration (our own stamps), command_max_rss (bytes), load_avg_1min, runnable_threads,
 *	cpu_temp					as pyperf has them
 *	quiesce_start, quiesce_window_kernel, quiesce_window_user, quiesce_user_cpu,
 *	quiesce_system_cpu, quiesce_task_clock, quiesce_run_delay, quiesce_reap,
 *	quiesce_steal					seconds
 *	quiesce_flags					"preempted,irq"
 *	quiesce_status					wait status, when it is not 0
 *	quiesce_env_pad					bytes, when any run of the series has some
 *	quiesce_frequency_khz, quiesce_minor_faults, quiesce_major_faults,
 *	quiesce_voluntary_switches, quiesce_involuntary_switches, quiesce_migrations,
 *	quiesce_cpu_first, quiesce_cpu_last, quiesce_throttles, quiesce_irq_device,
 *	quiesce_irq_timer, quiesce_irq_ipi, quiesce_irq_other	numbers
 *	quiesce_irq_lines				"38: virtio2-input.0 x3, 40: ... x1"
 *	quiesce_softirqs				"TIMER x3, SCHED x1"
 *	quiesce_temperature_before, quiesce_temperature_after	degrees Celsius
 *	quiesce_event_NAME				counts
 * and of the benchmark itself unit = "second" and quiesce_clock = "kernel" or "user", the clock of
 * the values.
 *
 * What a program measured itself (struct document_part) has as many values a run as there were,
 * warm-ups beside them, `loops` in each run, and instead of quiesce_clock inner_loops,
 * quiesce_stamps ("tsc"), quiesce_stamps_empty (seconds that an empty region takes) and
 * quiesce_stamps_resolution (seconds).
 */
#ifndef QUIESCE_RESULT_DOCUMENT_H
#define QUIESCE_RESULT_DOCUMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "basic/cleanup.h"
#include "basic/facts.h"
#include "result/benchmark.h"
#include "result/series.h"

/* A file that exists already, as a tree in memory. */
struct document;

/*
 * Reads and validates a file to append to: nothing passes that pyperf would not load. All of it is
 * kept, unknown keys too.
 * -EINVAL when it is no such file; *ret_why (never NULL then, malloc'd, safe for a terminal) is one
 * phrase: "not JSON: ... at line 3", "no pyperf result: key 'benchmarks' is missing". Other
 * failures are errors of open(2) or read(2), -EFBIG above 4 GiB, -ENOMEM; *ret_why is not touched.
 */
int document_load(const char *path, struct document **ret, char **ret_why);
/* The same, to look at or to merge: compressed files, FIFOs and "-" for standard input, too (as
 * result/input.h has them). */
int document_read(const char *path, struct document **ret, char **ret_why);
void document_free(struct document *document);
DEFINE_CLEANUP(document, document_free);

/*
 * May a series with these metadata be appended? To be asked before the first run: a measurement
 * that cannot be saved in the end is a loss.
 * A benchmark of the same name takes the runs as further ones of its own; pyperf's rule is that
 * certain metadata agree then (aslr, cpu_count, cpu_model_name, hostname, inner_loops, name,
 * platform, python_*, unit). Ours is that the clock agrees. Another name makes a further benchmark,
 * which always may.
 * -EINVAL with *ret_why (malloc'd) when it may not: "metadata 'hostname' differ: 'a' in the file,
 * 'b' now".
 */
int document_check_append(
	const struct document *existing, const struct facts *metadata, char **ret_why);

/* The clock of the runs that the benchmark of that name holds; -ENOENT when there is no such
 * benchmark or it does not say. A series can be made to agree with WINDOW_USER, which every sample
 * has, by setting series->clock. */
int document_find_clock(const struct document *existing, const char *name, enum window_clock *ret);

/*
 * Writes a whole file: what exists (or NULL), and the series as one benchmark. Run by run: memory
 * does not grow with the series. Flushes.
 * metadata need "name"; keys that pyperf knows need pyperf's type (else -EINVAL: loops and the like
 * are integers above 0, durations numbers, date a string). Text is made fit for the file: bytes
 * that are no UTF-8 and control characters become \xNN, text of blanks only is left out. Keys of
 * the existing suite or benchmark that do not hold for the new runs move to the benchmarks or runs
 * for which they do: what they say of old runs does not change. -EINVAL for metadata as above, or
 * where document_check_append() says no (clock included); -ENODATA for a series without a sample;
 * -EDOM when a value is not above 0, which no pyperf loads; these before anything is written. Else
 * the error of the stream: -ENOSPC, -EPIPE.
 */
int document_write(FILE *stream, const struct document *existing, const struct series *series,
	const struct facts *metadata);

/* What document_write() takes, for several benchmarks at once. */
struct document_part {
	const struct series *series;
	const struct facts *metadata;
	/* NULL: the values are those of the series. Else those of a benchmark over the same runs,
	 * which the program measured itself; runs without a value of it are left out,
	 * quiesce_clock, too. */
	const struct benchmark *inside;
};

/* The same with n >= 1 benchmarks in one file, whose names differ (else -EINVAL). To append several
 * costs a temporary file in memory as large as the result. */
int document_write_all(
	FILE *stream, const struct document *existing, const struct document_part *parts, size_t n);

/*
 * Writes several files as one. Benchmarks of one name become one with the runs of all, in the order
 * of the documents; what is said of all of its runs stands once. -EINVAL with *ret_why (malloc'd)
 * where document_check_append() would say no.
 */
int document_merge(FILE *stream, struct document *const *documents, size_t n, char **ret_why);

#endif
