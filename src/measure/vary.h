/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program finds that is not its input, and that --vary draws anew for each run: whether its
 * addresses are random, the size of its environment, how long argv[0] and the path of the working
 * directory are, which copy of its file is executed, and the numbers in variables such as
 * PYTHONHASHSEED. Each of these factors has some levels, which come again and again, so that the
 * runs with one can be compared with those with another (judge/stats/factors.h).
 *
 * The stack begins below the environment, the words of the command and the path that is executed
 * (fs/exec.c, fs/binfmt_elf.c: create_elf_tables()). If each factor that lengthens one of these
 * moved it, as many bytes as all of them together would decide where it lies, and none of them
 * alone would be seen to do anything. So the place of the stack belongs to one factor, the
 * environment: what the others add is made up for by the padding.
 */
#ifndef QUIESCE_MEASURE_VARY_H
#define QUIESCE_MEASURE_VARY_H

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/text.h"
#include "judge/result/series.h"
#include "measure/launch.h"
#include "measure/options.h"

struct vary;

/* The program that is varied, as it is run. All of it is borrowed. */
struct vary_program {
	char *const *argv;
	const char *file;
	const char *hidden;	      /* why the kernel hides its runs (program.h), or NULL */
	const char *const *variables; /* "NAME=VALUE" of --env; NULL-terminated */
};

/*
 * Chooses the factors and draws their levels. Makes a folder with copies of the program's file and
 * links to the working directory, if they are needed. Says what is wrong, and returns a negative
 * errno. What --vary has not named is left out where it cannot be varied, or is held by another
 * option: the metadata tell of it.
 */
int vary_new(const struct options *options, const struct vary_program *program, struct vary **ret);
/* Removes the folder, and says so where something of it is left. */
void vary_free(struct vary *vary);
DEFINE_CLEANUP(vary, vary_free);
/* Removes the folder alone. In a process that is about to end. */
void vary_remove(const struct vary *vary);

/* Draws the levels of the run of that number, and sets the padding of its environment, to which
 * `env_pad` of --env-pad belongs. */
void vary_draw(const struct vary *vary, uint64_t run, uint32_t env_pad, struct launch_order *order);
/* Adds an event for each factor to a series without runs. */
void vary_add_events(const struct vary *vary, struct series *series);
size_t vary_count(const struct vary *vary);
/* What the events of a run are. */
void vary_get_levels(const struct vary *vary, const struct launch_order *order, double *ret);
void vary_describe(const struct vary *vary, struct facts *facts);

/* Appends to the plan what the launcher has to know. `ret`: LAUNCH_MAX_FACTORS of them. */
void vary_append(const struct vary *vary, struct text *plan, struct launch_factor *ret);
/* Whether the launcher sets this variable, "NAME=VALUE" or NAME. */
bool vary_has_variable(const struct vary *vary, const char *text);

#endif
