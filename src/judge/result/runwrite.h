/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the runs of a series as a result file has them (judge/result/document.h).
 * judge/result/rundata.h reads them.
 */
#ifndef QUIESCE_JUDGE_RESULT_RUNWRITE_H
#define QUIESCE_JUDGE_RESULT_RUNWRITE_H

#include "base/facts.h"
#include "judge/result/benchmark.h"
#include "judge/result/emit.h"
#include "judge/result/series.h"

/* Writes each run on a line: "\n{...},\n{...}", with a comma before the first one, too, where other
 * runs precede. The values come from `inside`, or from the series if `inside` is NULL. Each run
 * also gets the metadata `carried`, except for names that it has itself. */
void runs_write(struct emit *emit, const struct series *series, const struct benchmark *inside,
	const struct facts *carried, bool others_precede);
/* Writes the values and warm-ups of a run, as members of an object. */
void runs_write_values(struct emit *emit, const struct benchmark *inside, size_t index);

#endif
