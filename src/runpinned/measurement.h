/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has been measured of one command. */
#ifndef QUIESCE_RUNPINNED_MEASUREMENT_H
#define QUIESCE_RUNPINNED_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "result/series.h"
#include "runpinned/progvalues.h"

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
	struct progvalues *progvalues; /* what the program measured itself */
	size_t n_refused;	       /* runs that handed over what is no values */
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

void measurement_free(struct measurement *measurement);
DEFINE_CLEANUP(measurement, measurement_free);

#endif
