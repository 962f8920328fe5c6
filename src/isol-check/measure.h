/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proves how quiet CPUs are: --measure[=SEC]. Threads read the clock there (spin.h), the gaps in
 * what they read are counted (gaps.h), and the kernel's own counts tell who it was (suspects.h).
 *
 * CPUs of one core are measured one after the other: each is to be seen as it is for a benchmark,
 * whose sibling is idle. All others are measured at once.
 */
#ifndef QUIESCE_ISOL_CHECK_MEASURE_H
#define QUIESCE_ISOL_CHECK_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/text.h"
#include "isol-check/osnoise.h"
#include "isol-check/spin.h"
#include "isol-check/suspects.h"
#include "machine/cpumask.h"
#include "machine/topology.h"

struct measured_cpu {
	struct spin_result spin;
	struct suspects suspects;
};

struct measurement {
	struct measured_cpu *cpus; /* in the order of their numbers */
	size_t n;
	char *clocksource; /* the kernel's; NULL when unknown */
	/* What speaks against the numbers, a line each. */
	struct text notes;
	/* What the kernel's own tracer saw; `traced` is false where it was not used. */
	struct osnoise osnoise;
	bool traced;
	int signal; /* that ended it early; 0: none did */
};

/* The next CPUs to be measured together: of `rest` the lowest of each core, taken out of it. */
void measure_take_round(
	const struct topology *topology, struct cpumask *rest, struct cpumask *ret_round);

/* Says what is wrong. -EINVAL for CPUs that cannot be used, another negative errno. */
int measure_read(const struct cpumask *cpus, const struct topology *topology, int64_t ns,
	struct measurement **ret);
void measurement_free(struct measurement *measurement);
DEFINE_CLEANUP(measurement, measurement_free);

/* On standard output, as text or JSON. -EIO, -ENOMEM. */
int measure_show(const struct measurement *measurement, bool json, bool verbose);

#endif
