/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the CPU's core is like at this moment: how fast its clock is, and whether another hardware
 * thread is at work on it. Found out by two loops of a microsecond each, which
 * anybody may run, also in a virtual machine that shows neither frequencies nor a PMU:
 *
 * - A chain of dependent operations takes a fixed number of cycles, whatever else runs on the core:
 *   the time that it takes is that of the core's clock.
 * - Independent additions fill all execution units of a core. If another hardware thread uses some
 *   of them, fewer additions are done in a cycle. The other thread may be one of the same machine,
 *   or belong to another virtual machine on the host. How many additions a whole core does in a
 *   cycle depends on the model of the CPU, and is not known here.
 *
 * A CPU that idles in between has no influence: the loops themselves keep it busy. The figures of
 * an emulated CPU (QEMU without KVM) mean nothing.
 *
 * This file uses only the C library and a few parts of libquiesce: it is linked into runpinned's
 * launcher, and works on the small stack of the launcher's child (clone(2) with CLONE_VM).
 */
#ifndef QUIESCE_LIBRARY_CORE_H
#define QUIESCE_LIBRARY_CORE_H

#include <stdint.h>

#include "library/clock.h"
#include "library/private.h"

/* Zeros stand for what is not known. */
struct core_reading {
	double adds;  /* independent additions per cycle of the core, 3 to 8 on a whole one */
	double hertz; /* cycles of the core per second */
};

/* The loops, calibrated. */
struct core {
	struct clock clock;
	uint64_t rounds;   /* of a chain that takes about half a microsecond */
	uint64_t least_ns; /* how long the shortest reading takes */
};

/*
 * Chooses the clock and the length of the loops; takes 0.1 ms. Where the clock counts in steps of
 * more than 10 ns, the loops are longer in proportion. -EOPNOTSUPP where nothing can be found out:
 * on other architectures than x86-64 and arm64, or with a clock that is too coarse. -EPERM when the
 * process may not read the counter.
 */
int core_open(struct core *ret);
/* Takes a reading on the current CPU that lasts about `ns`, and at least core->least_ns. What an
 * interrupt or another task takes of this time is left out. */
void core_read(const struct core *core, uint64_t ns, struct core_reading *ret);

#endif
