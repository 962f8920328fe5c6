/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine did on the benchmark's CPUs while a run lasted: what changed from the reading
 * before it to the one after it. The launcher reads, between the runs (runlog.h); what it read is
 * taken apart here.
 */
#ifndef QUIESCE_RUNPINNED_EVIDENCE_H
#define QUIESCE_RUNPINNED_EVIDENCE_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"
#include "result/series.h"
#include "runpinned/runlog.h"
#include "runpinned/session.h"

struct evidence_reader;

/* What a machine does not have is left out. */
int evidence_open(const struct cpumask *cpus, struct evidence_reader **ret);
void evidence_free(struct evidence_reader *reader);
DEFINE_CLEANUP(evidence_reader, evidence_free);

/* What the launcher is to read; lives as long as the reader. */
const struct session_file *evidence_files(const struct evidence_reader *reader, size_t *ret_n);
/*
 * Before some runs: looks at what is not the launcher's to read. Whether the reading before the
 * first of them is to be taken: the one after the last run serves where it is so new that nothing
 * else can have come between (short programs, one after the other).
 */
bool evidence_begin(struct evidence_reader *reader);
/*
 * Writes down what changed between the readings before and after a run, and what the launcher
 * reports beside it. The runs come in the order in which they were made. Interrupt lines are named
 * in `series`. Returns whether the CPU interrupted itself for its heat, for which evidence has no
 * place of its own: it is among irq_other.
 */
bool evidence_take(struct evidence_reader *reader, const struct runlog_run *run,
	struct series *series, struct evidence *ret);

/* The CPU package's temperature, NAN where the machine does not tell. A sensor is asked at most
 * once a second, because the question interrupts the CPU and the driver keeps its answer as long.
 */
double evidence_temperature(struct evidence_reader *reader);
/* The same, asked now. */
double evidence_ask_temperature(struct evidence_reader *reader);
/* From this on the package is hot. */
double evidence_hot(const struct evidence_reader *reader);
/* "coretemp: Package id 0", NULL where there is no such sensor. */
const char *evidence_sensor(const struct evidence_reader *reader);

#endif
