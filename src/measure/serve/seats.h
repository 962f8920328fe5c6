/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the services, beside what the measurement of each has. */
#ifndef QUIESCE_MEASURE_SERVE_SEATS_H
#define QUIESCE_MEASURE_SERVE_SEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/result/benchmark.h"
#include "measure/counting.h"
#include "measure/figures.h"
#include "measure/place.h"
#include "measure/rounds.h"
#include "measure/serve/account.h"
#include "measure/serve/asked.h"

/* The names of the figures that runserved itself has of each slice. */
#define SEAT_CPU "cpu"		  /* CPU time of the service for a request, in */
#define SEAT_CPU_UNIT "s/request" /* which judge/report/sense.c knows */
#define SEAT_USER "user"	  /* its parts in user mode */
#define SEAT_SYSTEM "system"	  /* and in the kernel */
#define SEAT_BYTES "bytes"	  /* of the answers to a request */
#define SEAT_BUSY "busy"	  /* the part of the time for which the service had its CPUs */
#define SEAT_WAITS "waits"	  /* and for which its threads waited for one */
#define SEAT_SWITCHES "switches"  /* context switches of its threads for a request */

/* What is known of one service. */
struct seat {
	struct account account;
	struct benchmark inside; /* its values are the slices */
	size_t values_room;
	size_t runs_room;
	double requests; /* in all slices that count */
	int64_t ready_ns_sum;
	size_t n_started;
	const char *rest; /* how it rests; a static text */
};

/* All of it. */
struct sittings {
	struct rounds rounds; /* the first member */
	const struct asked *asked;
	struct seat seats[OPTIONS_MAX_COMMANDS];
	size_t n;
	struct place *load_place; /* NULL: that of the services */
	char *load_program;
	char *warm_program; /* httpload, where the requests before a slice are ours */
	int warm_fd;	    /* what these have said last; 0: not open */
	bool warm_has_failed;
	struct figure_files *files;
	uint64_t random; /* state of the random generator for ports */
	/* What the load's CPUs did; NULL where these are those of the services, of which
	 * measure/evidence.h is asked. */
	struct evidence_reader *load_evidence;
	double *load_busy; /* of the load, one for each slice that counts */
	size_t n_load_busy;
	size_t load_busy_room;
	bool load_has_left; /* it was on other CPUs, which has been said */
	size_t n_warm_made;
	struct counting *counting; /* of -e; NULL: nothing is counted */
	unsigned warm_slices;	   /* before those that count, in each sitting; 0: not known yet */
	bool is_cold;		   /* as many as may be were too few */
	/* Why nothing follows from the figure that decides, NULL: something does; and what to do
	 * about it, a static text, or NULL. */
	char *nothing;
	const char *remedy;
	char *limit; /* who kept the others waiting; NULL before the last sitting */
};

/* Whether services and load have the same CPUs. */
static inline bool sittings_share_cpus(const struct sittings *sittings)
{
	return !sittings->load_place;
}

#endif
