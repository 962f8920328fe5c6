/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machines of a fleet beside each other: which one is slower, noisier, hotter or shared with
 * somebody, by the results that all of them have made? A machine's figures are compared with those
 * of the others (judge/stats/esd.h), and have to differ by enough to matter.
 */
#ifndef QUIESCE_JUDGE_REPORT_MACHINES_H
#define QUIESCE_JUDGE_REPORT_MACHINES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "judge/result/reader.h"

/* How a machine differs from the others. */
enum oddity {
	ODD_SLOWER = 1 << 0,  /* its values are larger, */
	ODD_FASTER = 1 << 1,  /* or smaller, by 1 % or more */
	ODD_NOISIER = 1 << 2, /* the spread of its runs is twice as large */
	ODD_SHARED = 1 << 3,  /* 30 % more of its runs had no whole core */
	ODD_CLOCK = 1 << 4,   /* the clock of the core is another one, by 1 % or more */
	ODD_HOTTER = 1 << 5,  /* the temperature is higher by 5 degrees or more */
};
#define N_ODDITIES 6

/* "slower" */
const char *oddity_name(enum oddity oddity);

/* NAN where a figure is not known. */
struct machine_figures {
	char *node;	   /* "" when unknown */
	char *model;	   /* of the processor, "" when unknown */
	size_t n_sittings; /* the sittings of the benchmark with the most sittings */
	size_t n_runs;	   /* of all benchmarks */
	/* The difference from the middle of all machines, as the median over the benchmarks in
	 * units of time that at least four machines, or all machines, have: 0.02 is 2 % more. Of a
	 * rate, and other figures of which more is better, it is the costs, 1 / value. */
	double level;
	double noise;  /* the standard deviation of a sitting's runs by their quartiles, relative */
	double shared; /* the part of the runs that had less than a whole core */
	double clock_hz;
	double temperature; /* degrees Celsius */
	unsigned odd;	    /* enum oddity */
};

struct machines {
	struct machine_figures *items;
	size_t n;
	size_t n_benchmarks;
	struct machine_cells *cells; /* internal */
};

struct machines *machines_new(void);
/* Adds the benchmarks of a file that was read with evidence, without the controls, or only the
 * benchmark `name`. Benchmarks with a value that is not above 0 are left out. */
int machines_add(struct machines *machines, const struct suite *suite, const char *name);
/* Computes the figures, and which machines are odd, after all files were added. */
void machines_settle(struct machines *machines);
void machines_free(struct machines *machines);
DEFINE_CLEANUP(machines, machines_free);

#endif
