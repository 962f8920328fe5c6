/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metadata of a suite, its benchmarks and their runs, for the reader alone: read, and, when all
 * is read, what is said above put into the runs. */
#ifndef QUIESCE_JUDGE_RESULT_READMETADATA_H
#define QUIESCE_JUDGE_RESULT_READMETADATA_H

#include <stdbool.h>

#include "judge/result/reading.h"

/* Reads the metadata of the suite or of a benchmark, where the file is kept also as JSON. pyperf
 * accepts null instead of an object, but only for the suite. */
int reader_read_metadata(
	struct reader *reader, bool may_be_null, struct facts *facts, struct facts *above);
/* Reads the metadata of a run into its data, and into the names of its benchmark. The buffer is
 * reused for each run. */
int reader_read_run_metadata(
	struct reader *reader, struct pending *pending, struct text *buffer, struct run_data *data);
/* When all is read: copies the metadata of the suite into the benchmark, and those of both into its
 * runs; sets the name, unit and times of the benchmark. */
int reader_finish_benchmark(struct reader *reader, struct pending *pending);

#endif
