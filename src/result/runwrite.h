/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs of a series as a result file has them (result/document.h); result/rundata.h is the way
 * back.
 */
#ifndef QUIESCE_RESULT_RUNWRITE_H
#define QUIESCE_RESULT_RUNWRITE_H

#include "basic/facts.h"
#include "result/benchmark.h"
#include "result/emit.h"
#include "result/series.h"

/* One line each: "\n{...},\n{...}", with a comma before the first one, too, where others precede.
 * `inside` are the values to write; NULL: those of the series. `carried` are metadata that each of
 * the runs has to say itself; what the run says of its own goes before. */
void runs_write(struct emit *emit, const struct series *series, const struct benchmark *inside,
	const struct facts *carried, bool others_precede);
/* {"name": "x", "unit": "second"} */
void facts_write(struct emit *emit, const char *name, const struct facts *facts);

#endif
