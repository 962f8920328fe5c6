/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the launcher finds out in the runs of a request, in a file in memory, written in the order
 * in which it happened:
 *
 *	[reading before]	where the request asks for it
 *	report, [reading after]	for each run; no reading after one that did not take place
 *
 * A reading is the text of the plan's files as the kernel renders it. The launcher, which has the
 * benchmark's CPU between two runs anyway, only copies them: it needs no memory for that, nobody
 * has to be woken, and nothing else lies between the readings than the run. What they mean
 * runpinned finds out when no program runs.
 *
 * The writer is libc only: it is linked into the launcher.
 */
#ifndef QUIESCE_RUNPINNED_RUNLOG_H
#define QUIESCE_RUNPINNED_RUNLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/cleanup.h"
#include "runpinned/launch.h"

enum runlog_kind {
	RUNLOG_BEFORE = 1,
	RUNLOG_REPORT = 2,
	RUNLOG_AFTER = 3,
};

/* --- The launcher's side. */

struct runlog_writer;

/* Opens the plan's files, whose texts a reading is, and writes to fd. -ENOMEM. */
int runlog_writer_new(const struct launch_plan *plan, int fd, struct runlog_writer **ret);
void runlog_writer_free(struct runlog_writer *writer);
/* From the beginning again, for the next request. */
void runlog_rewind(struct runlog_writer *writer);
/* How many bytes were written since. */
size_t runlog_size(const struct runlog_writer *writer);
int runlog_write_report(struct runlog_writer *writer, const struct launch_report *report);
/* Reads the files and writes their texts; those of one CPU only where it is `cpu`. A file that
 * cannot be read is no failure: the error takes the place of its text. kind: RUNLOG_BEFORE or
 * RUNLOG_AFTER. */
int runlog_write_reading(struct runlog_writer *writer, enum runlog_kind kind, int cpu);
/* Before the other side is told that there is something. */
int runlog_flush(struct runlog_writer *writer);

/* --- runpinned's side. */

/* One file's text; NUL stands behind it. Without a text, size is the negative errno: -ENODATA for
 * one that was not to be read, -EALREADY for one that has nothing new since the same launcher's
 * last reading. */
struct runlog_text {
	const char *data;
	ssize_t size;
};

struct runlog_reading {
	struct runlog_text *texts; /* in the order of the plan's files */
};

struct runlog_run {
	struct launch_report report;
	/* NULL: there is none. */
	const struct runlog_reading *before;
	const struct runlog_reading *after;
	bool is_last; /* of its request */
};

struct runlog;

/* The file for both sides: a memfd that cannot shrink, for it is read in place. */
int runlog_fd_create(void);
/* A reader of what is written to fd, which stays the caller's. n_files is the plan's. */
int runlog_new(int fd, size_t n_files, struct runlog **ret);
void runlog_free(struct runlog *runlog);

DEFINE_CLEANUP(runlog, runlog_free);

/* What the launcher wrote, `size` bytes. It must not write while they are read. */
int runlog_load(struct runlog *runlog, size_t size);
/* The next run; what it points to lives until the next call. 1, or 0 when there is none. -EBADMSG
 * for what no launcher writes. */
int runlog_next(struct runlog *runlog, struct runlog_run *ret);

#endif
