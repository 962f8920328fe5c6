/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the CPUs of a set have been throttled because of heat since boot:
 * cpuN/thermal_throttle/{core,package}_throttle_count (drivers/thermal/intel/therm_throt.c; Intel
 * only). AMD, Arm and virtual machines have no such counter, which is normal: there only a falling
 * frequency shows throttling.
 *
 * Each CPU of a package counts the package's events, so with two CPUs of one package in the set an
 * event counts twice: a sum only tells whether something has happened between two readings.
 */
#ifndef QUIESCE_BASE_MACHINE_THROTTLE_H
#define QUIESCE_BASE_MACHINE_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

struct throttle;

/* Of the CPUs of the set that have the counter. */
struct throttle_counts {
	uint64_t core;
	uint64_t package;
};

/* A reader for the CPUs of mask. -ENOENT when none of them has the counters. */
int throttle_open(const struct cpumask *mask, struct throttle **ret);
void throttle_free(struct throttle *throttle);

DEFINE_CLEANUP(throttle, throttle_free);

/* For callers that read the counters' files themselves: the number of files. */
size_t throttle_count(const struct throttle *throttle);
/* The path of a file. */
void throttle_path(const struct throttle *throttle, size_t index, char *buf, size_t size);
/* Adds the text of a file to *counts. Errors as below. */
int throttle_add(const struct throttle *throttle, size_t index, const char *text,
	struct throttle_counts *counts);

/* The largest counts of all CPUs: how often a core, and a package, was throttled at most. -ENODATA
 * when a CPU that had counters has none now, because it is offline. */
int throttle_read_largest(const struct throttle *throttle, struct throttle_counts *ret);

#endif
