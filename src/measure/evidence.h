/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine did on the benchmark's CPUs while a run lasted: the difference between the
 * kernel's counters after the run and before it. The launcher copies the texts of the kernel's
 * files between the runs (runlog.h); this module parses them.
 */
#ifndef QUIESCE_MEASURE_EVIDENCE_H
#define QUIESCE_MEASURE_EVIDENCE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "judge/result/series.h"
#include "measure/judge.h"
#include "measure/launch.h"
#include "measure/runlog.h"

/* A file whose text is part of the evidence. */
struct evidence_file {
	/* NULL: a place for one of the files that tell how long the launcher's cgroup was throttled
	 * (quota.h). Which files these are is known when the launcher has joined the CPUs; a place
	 * that is left has a text of the size -ENOENT. */
	const char *path;
	enum launch_file_kind kind;
	int cpu; /* the file is read only after runs that ended on this CPU; -1: in each reading */
};

struct evidence_reader;

/* Opens the readers of all evidence. Evidence that this machine does not have is left out, and
 * where it is `renumbered` (topology.h) what /proc/stat says of CPUs. `one_package`: the machine
 * has no package but that of these CPUs. */
struct evidence_reader *evidence_open(
	const struct cpumask *cpus, bool renumbered, bool one_package);
void evidence_free(struct evidence_reader *reader);
DEFINE_CLEANUP(evidence_reader, evidence_free);

/* The files that the launcher has to read. The array lives as long as the reader. */
const struct evidence_file *evidence_files(const struct evidence_reader *reader, size_t *ret_n);
/*
 * Called before a request for runs: reads the temperature, which the launcher does not read.
 * Returns whether the launcher has to take a reading before the first run of the request. It need
 * not when the reading after the previous run is so new that it serves as the reading before this
 * one, as with short programs that run one after the other.
 */
bool evidence_begin(struct evidence_reader *reader);
/*
 * Fills the evidence of one run from the readings before and after it, and from the launcher's
 * report. Must be called for the runs in the order in which they were made. Adds the names of
 * interrupt lines to `series`. Where the report says that the program has left its CPUs, and where
 * it must have, because these were idle while it ran (the report says so as well then), nothing
 * that was read of them is known. The shares of the core are not yet shares: see
 * judge_core_shares(). Returns whether the CPU raised a thermal interrupt; evidence has no field of
 * its own for these, they are counted in irq_other.
 */
bool evidence_take(struct evidence_reader *reader, struct runlog_run *run,
	const struct window_floor *floor, struct series *series, struct evidence *ret);
/* To be called after the last run when inspections have shown that the program leaves its CPUs:
 * nothing that was read of these CPUs is known of any run. */
void evidence_forget_cpus(struct evidence_reader *reader, struct series *series);

/* Adds to the newest run what the program saw of its core meanwhile (progvalues.h). */
void evidence_take_inside(struct series *series, double core_adds);

/* The temperature of the CPU package; NAN when the machine has no sensor. The sensor is read at
 * most once a second, because reading it interrupts the CPU and because the driver caches the value
 * for as long. */
double evidence_temperature(struct evidence_reader *reader);
/* The same, but the sensor is always read. */
double evidence_ask_temperature(struct evidence_reader *reader);
/* What it was when the reader was opened. */
double evidence_first_temperature(const struct evidence_reader *reader);
/* The temperature from which on a run is flagged as hot. */
double evidence_hot(const struct evidence_reader *reader);
/* "coretemp: Package id 0"; NULL when there is no such sensor. */
const char *evidence_sensor(const struct evidence_reader *reader);

#endif
