/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run log: a file in memory in which the launcher writes down the runs of a request, in the
 * order in which they happen:
 *
 *	[reading before]	if the request asks for it
 *	report, [reading after]	for each run; without a reading after a run that did not take place
 *
 * A reading is the text of the plan's files as the kernel writes it. The launcher only copies these
 * texts. It is on the benchmark's CPU between two runs anyway, so no other process has to be woken,
 * it needs hardly any memory, and nothing but the run happens between two readings. runpinned
 * parses the texts later, when no program runs.
 *
 * The writer uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_RUNLOG_H
#define QUIESCE_MEASURE_RUNLOG_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "measure/launch.h"

enum runlog_kind {
	RUNLOG_BEFORE = 1,
	RUNLOG_REPORT = 2,
	RUNLOG_AFTER = 3,
};

/* --- Used by the launcher. --- */

struct runlog_writer;

/* Opens the files of the plan, whose texts make up a reading. Writes to fd. -ENOMEM. */
int runlog_writer_new(const struct launch_plan *plan, int fd, struct runlog_writer **ret);
void runlog_writer_free(struct runlog_writer *writer);
/* Starts again at the beginning of the file, for the next request. */
void runlog_rewind(struct runlog_writer *writer);
/* Forgets the readings so far: the next reading does not refer to them. */
void runlog_forget(struct runlog_writer *writer);
/* How many bytes were written since runlog_rewind(). */
size_t runlog_size(const struct runlog_writer *writer);
int runlog_write_report(struct runlog_writer *writer, const struct launch_report *report);
/* Reads the files and writes their texts. A file that belongs to one CPU is read only if that CPU
 * is `cpu`, and LAUNCH_FILE_STATE before runs, and when it was last read more than 5 ms ago. A file
 * that cannot be read is no failure: the error is written in the place of its text. kind is
 * RUNLOG_BEFORE or RUNLOG_AFTER. */
int runlog_write_reading(struct runlog_writer *writer, enum runlog_kind kind, int cpu);
/* Writes out what is buffered. Must be called before runpinned is told that there is something to
 * read. */
int runlog_flush(struct runlog_writer *writer);

/* --- Used by runpinned. --- */

/* Why there is no text of a file: it was not to be read; it has not changed (or, of
 * LAUNCH_FILE_MEAN, hardly) since the previous reading of the same launcher that was not forgotten;
 * or, of LAUNCH_FILE_INTERRUPTS, no device has interrupted a CPU of the plan since that reading,
 * while other interrupts may have come. */
#define RUNLOG_NOT_READ (-ENODATA)
#define RUNLOG_UNCHANGED (-EALREADY)
#define RUNLOG_NO_DEVICE (-ENOMSG)

/* The text of one file, with a NUL behind it. If there is no text, size is one of the above, or the
 * negative errno of reading it. */
struct runlog_text {
	const char *data;
	ssize_t size;
};

struct runlog_reading {
	struct runlog_text *texts; /* in the order of the plan's files */
};

struct runlog_run {
	struct launch_report report;
	/* NULL when there is no such reading. */
	const struct runlog_reading *before;
	const struct runlog_reading *after;
	bool is_last; /* the last run of its request */
};

struct runlog;

/* Creates the file: a memfd that cannot shrink, because runpinned reads it through a mapping. */
int runlog_fd_create(void);
/* A reader of what is written to fd. fd is not closed by runlog_free(). n_files is that of the
 * plan. */
int runlog_new(int fd, size_t n_files, struct runlog **ret);
void runlog_free(struct runlog *runlog);

DEFINE_CLEANUP(runlog, runlog_free);

/* Prepares to read the first `size` bytes. The launcher must not write while they are read.
 * -EBADMSG when the file is shorter. */
int runlog_load(struct runlog *runlog, size_t size);
/* The next run; what *ret points to is valid until the next call. Returns 1, or 0 when there are no
 * more runs. -EBADMSG for data that no launcher writes. */
int runlog_next(struct runlog *runlog, struct runlog_run *ret);

#endif
