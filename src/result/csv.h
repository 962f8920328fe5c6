/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A series as CSV (RFC 4180, lines end in CR LF): a header row, then one row a run, warm-ups too.
 * Seconds and counts with '.' as the decimal point in any locale; absent values are empty fields.
 * The columns are the same for all series with evidence, and for all without; those of counted
 * events follow them.
 */
#ifndef QUIESCE_RESULT_CSV_H
#define QUIESCE_RESULT_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "result/benchmark.h"
#include "result/series.h"

/* Writes and flushes. Needs no memory that grows with the series. */
int csv_write(FILE *stream, const struct series *series);

struct csv_part {
	const char *name;
	const struct series *series;
	/* NULL: a row a run. Else a row for each value of a benchmark over the same runs, which the
	 * program measured itself, with all that the row of its run has. */
	const struct benchmark *inside;
};

/*
 * Several series of one kind (evidence and events alike), one after the other below one header,
 * with their names in a first column "name".
 *
 * Where one of them was measured inside, four columns stand behind "run,warmup", which tell the
 * process as before: "index", from 1, of the value among those of its run, warm-ups and
 * calibrations first, and empty in a row of a whole run; "counted", 1 for what counts and 0 for
 * what was only to warm up; "loops" and "inner_loops" of the value.
 */
int csv_write_all(FILE *stream, const struct csv_part *parts, size_t n);

#endif
