/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else ran on the benchmark's CPUs from before the first run to after the last: how quiet the
 * machine was, measured. It covers the time between the runs as well.
 */
#ifndef QUIESCE_MEASURE_MEANWHILE_H
#define QUIESCE_MEASURE_MEANWHILE_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/machine/cpumask.h"
#include "base/machine/suspects.h"

struct meanwhile {
	const struct cpumask *cpus;
	struct suspects_reading before;
	int64_t since; /* CLOCK_MONOTONIC */
};

/* The CPUs must live as long. */
struct meanwhile *meanwhile_begin(const struct cpumask *cpus);
void meanwhile_free(struct meanwhile *meanwhile);
DEFINE_CLEANUP(meanwhile, meanwhile_free);

/*
 * Adds to the facts, where known:
 *	quiesce_meanwhile		 a line for a person
 *	quiesce_meanwhile_tasks		 per cent of the CPUs' time that other tasks took, at most:
 *					 a task may have run on other CPUs as well. Tasks that
 *					 ended meanwhile are not in it
 *	quiesce_meanwhile_other		 per cent of the CPUs' time that neither the program nor
 *					 these tasks explain: tasks that have ended, or that a
 *					 container does not show, and interrupts. 0 as long as it
 *					 may be an error of the kernel's clock tick
 *	quiesce_meanwhile_interrupts	 interrupts per second on these CPUs
 */
void meanwhile_describe(const struct meanwhile *meanwhile, struct facts *facts);

#endif
