/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the CPUs of a set throttled themselves because they were hot, since boot:
 * cpuN/thermal_throttle/{core,package}_throttle_count (drivers/thermal/intel/therm_throt.c; Intel
 * only). AMD, Arm and virtual machines have no such counter, which is normal: there a frequency
 * that falls tells it.
 *
 * The package's events are counted by each CPU of the package, so with two CPUs of one package
 * in the set one event counts twice. What is of use is that a count moved.
 */
#ifndef QUIESCE_MACHINE_THROTTLE_H
#define QUIESCE_MACHINE_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

struct throttle;

/* Sums over the CPUs of the set that have the counter. */
struct throttle_counts {
	uint64_t core;
	uint64_t package;
};

/* A reader for the CPUs of mask. -ENOENT when none of them has the counters. */
int throttle_open(const struct cpumask *mask, struct throttle **ret);
void throttle_free(struct throttle *throttle);

DEFINE_CLEANUP(throttle, throttle_free);

/* For who reads the counters' files: how many there are, */
size_t throttle_count(const struct throttle *throttle);
/* the path of each, */
void throttle_path(const struct throttle *throttle, size_t index, char *buf, size_t size);
/* and what to do with its text: it is added to *counts. Errors as below. */
int throttle_add(const struct throttle *throttle, size_t index, const char *text,
	struct throttle_counts *counts);

/* -ENODATA when a CPU that had counters has none now: it is offline, and so is its count. */
int throttle_read(struct throttle *throttle, struct throttle_counts *ret);

#endif
