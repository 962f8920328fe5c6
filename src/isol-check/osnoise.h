/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own word on who took a CPU, and for how long each time: the osnoise tracer
 * (Documentation/trace/osnoise-tracer.rst). It measures interrupts, softirqs, NMIs and threads
 * where they begin and end. It comes with CONFIG_OSNOISE_TRACER, which of Debian's kernels only
 * those for real time have, and is root's.
 *
 * It runs in a tracing instance of our own, without its workload (OSNOISE_WORKLOAD, from 6.1 on):
 * the threads that spin are ours. That option is all that is set outside of the instance; both are
 * put back when it stops.
 */
#ifndef QUIESCE_ISOL_CHECK_OSNOISE_H
#define QUIESCE_ISOL_CHECK_OSNOISE_H

#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

/* One of those who took a CPU. */
struct osnoise_source {
	int cpu;
	char *name; /* "irq local_timer:236", "softirq TIMER:1", "thread migration/8:54", "nmi" */
	uint64_t count;
	uint64_t total_ns;
	uint64_t longest_ns;
};

struct osnoise {
	struct osnoise_source *items; /* by CPU, the longest in all first */
	size_t n;
	size_t capacity;
};

void osnoise_clear(struct osnoise *osnoise);

/* Adds what the text of the file `trace` tells, but for idle threads, those that are called `own`,
 * and what took longer than limit_ns, the time that was traced: it began before. Lines of other
 * kinds are passed over. -ENOMEM. */
int osnoise_parse(const char *text, const char *own, uint64_t limit_ns, struct osnoise *osnoise);

struct osnoise_tracer;

/* Traces these CPUs from now on. -EOPNOTSUPP where that cannot be done, with the reason in *ret_why
 * (malloc'd): "the kernel was built without it". -ENOMEM. */
int osnoise_start(const struct cpumask *cpus, struct osnoise_tracer **ret, char **ret_why);
/* Stops it, puts everything back, and adds what it saw. -ENOMEM, or what failed. */
int osnoise_stop(struct osnoise_tracer *tracer, struct osnoise *osnoise);
/* Stops it and puts everything back, if that was not done yet. */
void osnoise_tracer_free(struct osnoise_tracer *tracer);
DEFINE_CLEANUP(osnoise_tracer, osnoise_tracer_free);

#endif
