/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a round is made where it is more than one run of each program: runserved's sittings
 * (measure/serve). All else of a measurement is the same: the place, --quiesce, the order, when it
 * is enough, the result.
 */
#ifndef QUIESCE_MEASURE_ROUNDS_H
#define QUIESCE_MEASURE_ROUNDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/facts.h"
#include "base/stop.h"
#include "judge/report/brief.h"
#include "judge/result/benchmark.h"
#include "measure/command.h"
#include "measure/launchplan.h"
#include "measure/progress.h"

/* The round that is to be made. */
struct round {
	const struct launch_inputs *in;
	struct commands *commands;
	const size_t *order; /* of the commands, drawn anew for each round */
	uint64_t *random;    /* what it is drawn from (base/random.h), for more orders */
	struct stop *stop;
	struct progress *progress; /* to be cleared before something is said */
};

struct rounds {
	/* Adds the CPUs that are asked for beside those of -c, before anything is chosen: which
	 * ones are to be quiet as well (--quiesce). Says what is wrong, and returns a negative
	 * errno. */
	int (*foresee)(const struct rounds *rounds, struct cpumask *cpus);
	/* Chooses the CPUs that are needed beside the place, and adds them: all of them are locked
	 * together. Called anew where others had them, which may have changed the place. Says what
	 * is wrong, and returns a negative errno. */
	int (*choose)(struct rounds *rounds, const struct place *place, struct cpumask *cpus);
	/* Before anything is begun, once all CPUs are chosen. Says what is wrong, and returns a
	 * negative errno. */
	int (*check)(struct rounds *rounds);
	/* Makes a round, and adds one run that counts to the measurement of each command. 0 to go
	 * on; 1 when no more are to be made: then *ret_last is the command whose measurement tells
	 * why (`end`, `incomplete`). A negative errno after saying what has failed. */
	int (*make)(struct rounds *rounds, const struct round *round, size_t *ret_last);
	/* The metadata of command number i, before the runs and after them. */
	void (*describe)(const struct rounds *rounds, size_t i, struct facts *facts);
	/* After the last run, and before its results are written. */
	void (*conclude)(struct rounds *rounds, struct commands *commands);
	/* The values inside of the runs of command number i, or NULL. */
	const struct benchmark *(*inside)(const struct rounds *rounds, size_t i);
	/* Adds what is to be said to `brief`, or where that is NULL, prints all that is known. A
	 * negative errno, such as -EIO. */
	int (*report)(const struct rounds *rounds, const struct commands *commands,
		const struct options *options, const struct place *place, FILE *stream,
		struct brief *brief);
	/* Prints more lines of --dry-run. */
	void (*print_plan)(const struct rounds *rounds);
};

#endif
