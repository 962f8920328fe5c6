/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The knobs of noise-off, and the value that each is to have on this machine.
 */
#ifndef QUIESCE_QUIET_NOISE_OFF_KNOBS_H
#define QUIESCE_QUIET_NOISE_OFF_KNOBS_H

#include <stddef.h>

#include "quiet/engine/knob.h"
#include "quiet/setter/setter.h"

/* When a knob is turned. */
enum noise_use {
	NOISE_ALWAYS,	 /* unless excepted */
	NOISE_WITH_CPUS, /* only with -c: the knob concerns the CPUs of -c */
	NOISE_IF_NAMED,	 /* only when named by the user: the knob has a price */
};

/* In the order in which they are turned and shown. */
enum noise_id {
	NOISE_WORKQUEUE,
	NOISE_WRITEBACK,
	NOISE_WATCHDOG_CPUMASK,
	NOISE_PM_QOS,
	NOISE_NMI_WATCHDOG,
	NOISE_SOFT_WATCHDOG,
	NOISE_TIMER_MIGRATION,
	NOISE_STAT_INTERVAL,
	NOISE_NUMA_BALANCING,
	NOISE_KSM,
	NOISE_THP,
	NOISE_PERF_CPU_PERCENT,
	NOISE_PERF_SAMPLE_RATE,
	NOISE_RT_RUNTIME,
	NOISE_ASLR,
	NOISE_SWAP,
	NOISE_N,
};

struct noise_knob {
	const char *name; /* as a user types it */
	enum noise_use use;
	const char *sets; /* the value that is set, for a person */
	const char *why;  /* what that does for a benchmark, in one line */
	/* The file to which `sets` is written unchanged; NULL where the value has to be
	 * computed. */
	const char *file;
	/* It has this effect on Linux before this version; { 0 }: on every kernel that has the
	 * knob. Source: the man page, and tests/vm/guest/test_effects.py. */
	struct {
		unsigned major, minor;
	} until;
	/* What disturbs in spite of the knob: on later kernels, or without `until` on all. NULL:
	 * nothing. */
	const char *remains;
};

/* The kernels on which the knob has its effect, for a person: "all", "<6.9". */
void noise_format_kernels(const struct noise_knob *knob, char *buf, size_t size);

/* NOISE_N of them. */
extern const struct noise_knob noise_knobs[];

/* What the options say about a knob. */
enum noise_wish {
	NOISE_DEFAULT,
	NOISE_NAMED,
	NOISE_EXCEPTED,
};

/* The backends that the plan's knobs need. */
extern const struct knob_backend noise_backends[];

/*
 * Makes the plan; says what is wrong, but for -ENOMEM: -EINVAL for wrong use. wishes has NOISE_N
 * entries. A knob that was named must not be refused, the others may.
 */
int noise_make_plan(
	const struct setter_target *target, const enum noise_wish *wishes, struct knob_plan *plan);

#endif
