/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A series as CSV (RFC 4180, lines end in CR LF): a header row, then one row a run, warm-ups too.
 * Seconds and counts with '.' as the decimal point in any locale; absent values are empty fields.
 * The columns are the same for all series with evidence, and for all without; the columns of
 * counted events follow them.
 */
#ifndef QUIESCE_JUDGE_RESULT_CSV_H
#define QUIESCE_JUDGE_RESULT_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "judge/result/benchmark.h"
#include "judge/result/series.h"

/* Writes and flushes. Needs no memory that grows with the series. */
int csv_write(FILE *stream, const struct series *series);

/* RFC 4180: a field with a comma or a quote is quoted, and its quotes are doubled. Each row is one
 * line: line ends, like all control characters, are written as \xNN. */
void csv_put_field(FILE *stream, const char *text);

struct csv_part {
	const char *name;
	const struct series *series;
	/* NULL: a row for each run. Else a row for each value that the program measured itself: a
	 * benchmark over the same runs. The evidence of the run is repeated in each row. */
	const struct benchmark *inside;
};

/*
 * Several series of one kind (evidence and events alike), one after the other below one header,
 * with their names in a first column "name".
 *
 * Where a program measured one of them itself, four columns follow "run,warmup", which still tell
 * the process: "index", from 1, of the value among the values of its run, where warm-ups and
 * calibrations come first (empty in the row of a whole run); "counted", 1 for a value that counts
 * and 0 for a warm-up; "loops" and "inner_loops" of the value.
 */
int csv_write_all(FILE *stream, const struct csv_part *parts, size_t n);

#endif
