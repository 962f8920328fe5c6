/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of other tools, for the reader alone, and the figures that come with each value. */
#ifndef QUIESCE_JUDGE_RESULT_FOREIGN_H
#define QUIESCE_JUDGE_RESULT_FOREIGN_H

#include "judge/result/reading.h"

/* Reads the value of BENCHMARK_FIGURES. Lists of another length than that of the run's values are
 * ignored. */
int reader_read_figures(struct reader *reader, struct pending *pending);
/* Makes each figure as long as the values are, with NAN for those that it has not been told of. */
void reader_extend_figures(struct benchmark *benchmark);

/* The values of "schema_version", of "metadata" and of "results": the first two are new in 2.0. */
int reader_read_hyperfine_schema(struct reader *reader);
int reader_read_hyperfine_metadata(struct reader *reader);
int reader_read_hyperfine(struct reader *reader);
/* The values of "context" and of "benchmarks". */
int reader_read_google_context(struct reader *reader);
int reader_read_google(struct reader *reader);

#endif
