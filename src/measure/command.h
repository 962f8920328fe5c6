/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that are measured. Most often there is only one. Several programs run in turn: each
 * is started by a launcher of its own, and each becomes one benchmark of the result.
 */
#ifndef QUIESCE_MEASURE_COMMAND_H
#define QUIESCE_MEASURE_COMMAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"
#include "base/stop.h"
#include "measure/figurepad.h"
#include "measure/measurement.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/streams.h"
#include "measure/tracepoints.h"

struct session;
struct rounds;
struct tries;
struct vary;

struct command {
	const char *name;	   /* the name of the benchmark */
	const char *const *values; /* the values of the parameters; NULL for a parameter that it
				    * does not have */
	const char *const *hooks;  /* HOOK_KINDS of them, NULL where there is none */
	bool set_up;		   /* its --setup was begun, so that its --cleanup is due */
	bool prepared;		   /* its --prepare was run, so that its --conclude is due */
	uint32_t number;	   /* of the run that it is prepared for */
	char *const *argv;	   /* as it is run */
	char *const *typed;	   /* as the user gave it; NULL where it is run like that */
	const char *benchmark;	   /* of a hosted harness (host.h), or NULL */
	size_t number_of_program;  /* which one of the options' programs */
	uint64_t loops;		   /* that it is told, 0 where it is not */
	char **made;		   /* argv, where the number of loops is in it */
	char *program;		   /* the file that is executed; NULL until it is resolved */
	const char *input;	   /* the files that `streams` has open, or NULL */
	const char *output_file;
	const char *const *variables; /* "NAME=VALUE" of --env; NULL-terminated */
	struct streams streams;
	size_t old; /* the command that it is compared with; its own number if there is none */
	struct session *session;
	struct measurement *measurement; /* NULL until measure() has created it */
	struct facts facts;
	const char *hidden; /* why the kernel does not stamp the program, or NULL (program.h) */
	bool is_control;
	double decide_wanted; /* the e-value that settles it, by --session; 0: by the others */
	bool is_settled;      /* no more runs are needed of it (decide.h) */
	bool is_shipped;      /* argv[1] has room for its length, OPTIONS_LENGTH_SIZE */
};

struct commands {
	struct command items[OPTIONS_MAX_COMMANDS];
	size_t n;
	struct rounds *rounds; /* how a round is made (rounds.h); NULL: each runs once */
	/* By which metric of a run the programs are judged (judge/result/metric.h): that of
	 * --metric, or the first figure of the first run that has not failed. NULL for the time,
	 * and as long as such a run is awaited. */
	char *metric;
	bool awaits_figure;
	struct tries *tries;	     /* of --session (tries.h), or NULL */
	struct command empty_shell;  /* with --shell: a shell that has nothing to do */
	struct vary *vary;	     /* NULL until the runs are near, and without --vary */
	struct figurepad *figurepad; /* of all of them; NULL until the runs are near */
	/* Attached, or about to be; NULL where they are not allowed or not wanted. */
	struct tracepoints *tracepoints;
	/* Waits for what the first event of the machine that is opened on a task waits for. */
	pthread_t waking;
	bool is_waking;
	int event; /* the one that the thread has opened, or the negative errno */
};

/* Takes the commands of the options. */
void commands_take(const struct options *options, struct commands *ret);
/* Finds the program file of each command. Says what is wrong and returns a negative errno. */
int commands_resolve(struct commands *commands);
/* Says so where the first argument of the only program is another program, as of who knows
 * hyperfine, unless a "--" stands before the program. */
void commands_note_rival(const struct options *options, const struct commands *commands);
/* Says so where an option that is ours stands behind the program, which gets it as an argument,
 * unless a "--" stands before the program. */
void commands_note_options(const struct options *options, const struct commands *commands);
/* Begins what takes a moment: to attach the tracepoints if --stamps allows it (tracepoints.h), and
 * to wait for the kernel's preparations for events on tasks, unless no run needs one. */
void commands_attach(struct commands *commands, const struct options *options);
/* With STAMPER_CORRECTED, corrects all runs by the inspections so far. Then gives all series the
 * same clock, because the difference between two clocks would look like a
 * difference between two programs: the kernel's stamps, or our own if a series cannot have the
 * kernel's or if `user` says so. */
void commands_settle_clocks(struct commands *commands, bool user);
/* After sessions_free(). */
void commands_clear(struct commands *commands);

#endif
