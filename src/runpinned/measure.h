/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs, one after the other.
 */
#ifndef QUIESCE_RUNPINNED_MEASURE_H
#define QUIESCE_RUNPINNED_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/stop.h"
#include "result/series.h"
#include "runpinned/command.h"
#include "runpinned/counting.h"
#include "runpinned/evidence.h"
#include "runpinned/inside.h"
#include "runpinned/options.h"

enum measure_end {
	MEASURE_COMPLETE,
	MEASURE_STOPPED, /* by a signal */
	MEASURE_FAILED,	 /* the program failed, or could not be started */
	MEASURE_BROKEN,	 /* we did */
};

/* What a run of the empty program takes, by the same path: at the start and at the end. */
struct floor_time {
	double kernel_seconds; /* medians; NAN when not measured */
	double user_seconds;
	int64_t reap_ns; /* exit record to our stamp, 0 when not known */
};

struct measurement {
	struct series *series;
	struct inside *inside; /* what the program measured itself */
	size_t n_refused;      /* runs that handed over what is no values */
	struct floor_time floor_before;
	struct floor_time floor_after;
	enum measure_end end;
	/* Why it ended before its time, as metadata say it: "run 17 failed: exit status 3". */
	char *incomplete;
	/* Why there is no kernel window although it was tried, positive errno; 0 otherwise. */
	int window_error;
	size_t n_warmups;
	size_t n_runs;
	uint64_t env_pad_seed; /* --env-pad random */
	bool env_pad_seeded;
	uint64_t order_seed;	/* of several commands */
	bool reached_rel_error; /* --until-rel-error was satisfied */
};

/*
 * Measures until all runs are done or something ends it, and says what went wrong with a program.
 * Several commands are run in rounds, each of them once a round, in an order that is drawn anew for
 * each: what the machine does meanwhile meets all of them alike, and run i of one has run i of the
 * others beside it. Fills the commands' measurements, with the same `end` in all.
 * evidence may be NULL. 0 (then `end` tells), or a negative errno where there is nothing to show.
 */
int measure(const struct options *options, struct commands *commands, struct stop *stop,
	const struct counting *counting, struct evidence_reader *evidence);
void measurement_free(struct measurement *measurement);

DEFINE_CLEANUP(measurement, measurement_free);

#endif
