/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a run each of its flags explains, and which runs that makes disturbed ones. This is
 * the only place where it is decided: runpinned sets flags by it, and all who show a result ask it.
 *
 * The weight of a flag is a part of the run: 0.083 is 8.3 %.
 *
 * preempted: the time that the run waited for its CPUs (run_delay). Where that is not known,
 * because a program of several tasks had no records attached to it, but it is known how long it was
 * off its only CPU: by how much longer than the run that was off it for the shortest time. This is
 * an estimate, because the program may have slept for longer. What the quota explains of either is
 * left out. It is not known of a service under load: that is judged by its CPU time, and waits for
 * the load where they have one CPU.
 *
 * quota: how long the CPU quota of the run's cgroup stopped it. The kernel counts all tasks of the
 * cgroup, from the reading before the run to the one after it: so no more than the run waited or
 * was off its CPU, as far as that is known.
 *
 * steal: the time that the hypervisor gave to others. The kernel tells it in steps of 10 ms, and a
 * step may have begun to fill long before the run. So it is what exceeds one step, or, if that is
 * more, the part of the time of all runs that was stolen.
 *
 * irq: the number of interrupts of devices, and of softirqs except those of the tick, times what
 * one costs. migrated: the number of moves, times what one costs.
 *
 * On several CPUs these figures are sums: what was stolen, throttled and moved is divided by the
 * number of CPUs that the run used in the mean, the interrupts by the number of CPUs that they are
 * of.
 *
 * freq and clock: how far the frequency that the kernel tells, or the clock of the core that was
 * seen, is off the median of all runs.
 *
 * shared: half of what the core's share is short of a whole core: an estimate, because programs
 * feel a neighbour less than the additions that measure it.
 *
 * The other flags have no weight. A weight cannot be derived if the result does not say what it is
 * derived from, as results of other tools do not.
 *
 * A run is disturbed if its flags together explain 1 % of it or more, or as much as the noise of
 * the result itself, whichever is larger; and if it has a flag that has no weight, or whose weight
 * cannot be derived. The noise is 1.4826 times the MAD, which for a normal distribution is the
 * standard deviation, of what the runs took without what they lost: a result that others disturb is
 * not excused by that.
 */
#ifndef QUIESCE_JUDGE_RESULT_WEIGHT_H
#define QUIESCE_JUDGE_RESULT_WEIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "judge/result/series.h"

/* From this weight on a run is disturbed, and runpinned sets the flags that do not stand for a mere
 * event. */
#define WEIGHT_WORTH_SAYING 0.01

/* The number of the bit of a flag. */
static inline size_t weight_bit(enum sample_flag flag)
{
	return (size_t)__builtin_ctz((unsigned)flag);
}

/* How many CPUs the run used in the mean, the stolen and throttled time included, at least one:
 * threads that run side by side lose their times side by side. */
double weight_find_used_cpus(const struct sample *sample, const struct evidence *evidence);

/* How long the run waited for CPUs that others had, without what a quota explains; -1 when it is
 * not known. */
int64_t weight_find_waited_ns(const struct evidence *evidence);

/* What is known only when all runs are known. */
struct weight_base {
	double frequency_khz; /* the medians; NAN when unknown */
	double mean_khz;
	double core_khz;
	size_t n_core_khz; /* of how many runs */
	double stolen;	   /* the part of the time of all runs; NAN when unknown */
	/* The shortest of all runs, without what a quota explains; NAN when unknown. */
	double off_cpu_ns;
};

/* NULL as base makes a weight that needs it underivable. Warm-ups do not count. */
void weight_base_find(const struct series *series, struct weight_base *ret);

struct weights {
	/* By the number of the flag's bit. NAN when it has no weight or when that cannot be
	 * derived. A flag that is not set may have a weight, too: a small one. */
	double of[SAMPLE_N_FLAGS];
	/* The sum of the weights; what a high frequency has gained is subtracted. `known` is false
	 * when not one of them could be derived. */
	double lost;
	bool known;
};

/* The weights of a run. evidence may be NULL. */
void weights_find(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence, struct weights *ret);
/* The flags that the evidence of a run gives it: those of events, and those that weigh enough to be
 * said. What needs the medians of all runs (freq, clock) is among them where the weights have it.
 */
uint16_t weight_flags(const struct evidence *evidence, const struct weights *weights);
/* "preempted 8.3 %, irq 0.1 %, hot": the flags of the run with their weights, malloc'd, "" for
 * none, NULL when memory is short. */
char *weights_text(const struct sample *sample, const struct weights *weights);

struct disturbances {
	struct weight_base base;
	double threshold; /* from this part of the run on it is disturbed */
	double typical;	  /* the median of what the runs lost; NAN when unknown */
	size_t n_runs;	  /* all figures are about the runs that count */
	size_t n_disturbed;
	/* By the number of the flag's bit: how many runs have it; how many of the disturbed ones it
	 * disturbed, and how much of the worst of these; NAN when that is unknown for all. */
	size_t n_flagged[SAMPLE_N_FLAGS];
	size_t n_by[SAMPLE_N_FLAGS];
	double worst[SAMPLE_N_FLAGS];
	/* For each run, warm-ups included, the flags that disturbed it; 0 for an undisturbed run.
	 */
	uint16_t *causes;
};

/* Takes 2 bytes a run, and 8 more while it works if there is evidence. */
void disturbances_find(const struct series *series, struct disturbances *ret);
void disturbances_clear(struct disturbances *disturbances);
/* The weights of a run of that series. */
void disturbances_weigh(const struct disturbances *disturbances, const struct series *series,
	size_t index, struct weights *ret);

#endif
