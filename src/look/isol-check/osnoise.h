/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's osnoise tracer (Documentation/trace/osnoise-tracer.rst), which tells what took a
 * CPU, and for how long each time: it traces when interrupts, softirqs, NMIs and threads begin and
 * end. It needs root and CONFIG_OSNOISE_TRACER; among Debian's kernels, only the real-time ones
 * have it.
 *
 * It runs in our own tracing instance, and without its own spinning threads (OSNOISE_WORKLOAD, an
 * option from 6.1 on), as we have ours. This option is the only setting outside of the instance;
 * when the tracer stops, the option is put back and the instance removed.
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_OSNOISE_H
#define QUIESCE_LOOK_ISOL_CHECK_OSNOISE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

/* An interrupt, softirq or thread, or all NMIs, that took a CPU. */
struct osnoise_source {
	int cpu;
	char *name; /* "irq local_timer:236", "softirq TIMER:1", "thread migration/8:54", "nmi" */
	uint64_t count;
	uint64_t total_ns;
	uint64_t longest_ns;
};

struct osnoise {
	struct osnoise_source *items; /* by CPU, then by total time, the longest first */
	size_t n;
	size_t capacity;
};

void osnoise_clear(struct osnoise *osnoise);

/* Adds the events of the text of a file `trace`. Left out are lines of other kinds, idle threads,
 * threads named `own`, and events that took longer than limit_ns, the traced time, because they
 * began before it. */
void osnoise_parse(const char *text, const char *own, uint64_t limit_ns, struct osnoise *osnoise);

/* How many events were overwritten, from the text of a file `per_cpu/cpuN/stats`
 * (kernel/trace/trace.c: tracing_stats_read()). -EBADMSG. */
int osnoise_parse_overrun(const char *text, uint64_t *ret);

struct osnoise_tracer;

/* Traces these CPUs from now on. -EOPNOTSUPP where that is not possible, with the reason in
 * *ret_why (malloc'd): "the kernel was built without it". */
int osnoise_start(const struct cpumask *cpus, struct osnoise_tracer **ret, char **ret_why);
/* Stops the tracer, puts everything back, and adds the events. *ret_lost: how many events of these
 * CPUs are missing, the oldest. Returns the first error. Where memory is short, the command ends
 * only when everything is back. */
int osnoise_stop(struct osnoise_tracer *tracer, const struct cpumask *cpus, struct osnoise *osnoise,
	uint64_t *ret_lost);
/* Stops the tracer and puts everything back, unless that was done. */
void osnoise_tracer_free(struct osnoise_tracer *tracer);
DEFINE_CLEANUP(osnoise_tracer, osnoise_tracer_free);

#endif
