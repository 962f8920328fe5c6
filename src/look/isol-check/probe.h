/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how quiet CPUs are: --measure[=SEC]. A thread on each CPU reads the clock (spin.h), gaps
 * in its readings are counted (gaps.h), and counters of the kernel show the likely causes
 * (suspects.h).
 *
 * CPUs of one core are measured one after the other, with an idle sibling, as a benchmark would
 * run. CPUs of different cores are measured at the same time.
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_PROBE_H
#define QUIESCE_LOOK_ISOL_CHECK_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/machine/suspects.h"
#include "base/machine/topology.h"
#include "base/text.h"
#include "look/isol-check/osnoise.h"
#include "look/isol-check/spin.h"

/* What the core was like during the measurement (library/core.h). */
struct measured_core {
	size_t n_looks; /* 0: it could not be looked at, and the rest is not set */
	double share;	/* the mean share of the core, 1 for a whole core */
	double shared;	/* the part of the looks with less than 90 % of a whole core */
	double hertz_low, hertz_median, hertz_high;
	bool is_whole_known; /* earlier measurements know what a whole core does */
};

struct measured_cpu {
	struct spin_result spin;
	struct measured_core core;
	struct suspects suspects;
};

struct probe {
	struct measured_cpu *cpus; /* in the order of their numbers */
	size_t n;
	char *clocksource; /* of the kernel; NULL when unknown */
	/* Reasons to doubt the numbers, one in each line. */
	struct text notes;
	/* The results of the kernel's osnoise tracer; all zero where it was not used. */
	struct osnoise osnoise;
	int signal; /* the signal that ended the measurement early; 0 for none */
};

/* Chooses the CPUs to measure together next, the lowest of each core in `remaining`, and removes
 * them from `remaining`. */
void probe_take_round(
	const struct topology *topology, struct cpumask *remaining, struct cpumask *ret_round);

/* Measures. Says what is wrong. -EINVAL for CPUs that cannot be measured, or another negative
 * errno. */
int probe_read(const struct cpumask *cpus, const struct topology *topology, int64_t ns,
	struct probe **ret);
void probe_free(struct probe *probe);
DEFINE_CLEANUP(probe, probe_free);

/* Prints a measurement on standard output, as text or JSON. -EIO. */
int probe_show(const struct probe *probe, bool json, bool verbose);

#endif
