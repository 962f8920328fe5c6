/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine did on the benchmark's CPUs while a run lasted: readings before and after it, in
 * the same order, by runpinned on a housekeeping CPU, never inside the window.
 */
#ifndef QUIESCE_RUNPINNED_EVIDENCE_H
#define QUIESCE_RUNPINNED_EVIDENCE_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"
#include "result/series.h"
#include "runpinned/launch.h"

struct evidence_reader;

/* What a machine does not have is left out. */
int evidence_open(const struct cpumask *cpus, struct evidence_reader **ret);
void evidence_free(struct evidence_reader *reader);
DEFINE_CLEANUP(evidence_reader, evidence_free);

/*
 * Takes the reading before a run. The reading after the last run serves where it is so new that
 * nothing else can have come between (short programs, one after the other).
 */
void evidence_before(struct evidence_reader *reader);
/* Takes the reading after a run, as soon as it has ended. */
void evidence_after(struct evidence_reader *reader);
/*
 * Writes down what changed between the two readings, and what the launcher reports beside it.
 * Interrupt lines are named in `series`. Returns the flags that speak against the run (enum
 * sample_flag), but for SAMPLE_FREQ, which needs all runs.
 */
uint16_t evidence_fill(struct evidence_reader *reader, struct series *series,
	const struct launch_report *report, struct evidence *ret);

/* The CPU package's temperature, NAN where the machine does not tell. A sensor is asked at most
 * once a second, because the question interrupts the CPU and the driver keeps its answer as long.
 */
double evidence_temperature(struct evidence_reader *reader);
/* The same, asked now. */
double evidence_ask_temperature(struct evidence_reader *reader);
/* "coretemp: Package id 0", NULL where there is no such sensor. */
const char *evidence_sensor(const struct evidence_reader *reader);

#endif
