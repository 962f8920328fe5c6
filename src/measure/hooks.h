/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shell commands of --setup, --prepare, --conclude and --cleanup. They are run by /bin/sh, on
 * the housekeeping CPUs, while no program runs, and within --hook-timeout.
 *
 * A process between runpinned and the shell watches it. When the time is over, or runpinned is
 * stopped or killed, the watcher ends the shell and everything that it has started. A hook that
 * ends by itself may leave processes behind, such as a server that the programs need.
 */
#ifndef QUIESCE_MEASURE_HOOKS_H
#define QUIESCE_MEASURE_HOOKS_H

#include <stdint.h>

#include "base/stop.h"
#include "measure/command.h"
#include "measure/options.h"
#include "measure/place.h"

/*
 * Runs the hook of the command, if it has one of this kind. It finds the number of the run in its
 * environment, 0 where there is none (launch.h). Returns 0, -ECANCELED when a signal
 * asked to stop meanwhile, or another negative errno when the hook failed, after saying what, and
 * what the hook has written to standard error. *ret_why is then a phrase for the metadata, malloc'd
 * ("--prepare failed: exit status 3"), or NULL.
 */
int hook_run(const struct options *options, const struct place *place,
	const struct command *command, enum hook_kind kind, uint32_t number, struct stop *stop,
	char **ret_why);
/*
 * Runs these words before all is measured, without a shell, as the hooks are run but on any CPU,
 * with these variables, and with its standard output in the file. Errors as hook_run().
 */
int hook_ask(const struct options *options, char *const words[], const char *const variables[],
	int output_fd, struct stop *stop);
/* A command that is tried, by hook_try(). */
struct hook_trial {
	const struct options *options;
	char *const *words;
	const char *const *variables; /* "NAME=VALUE", NULL-terminated, beside our environment */
	const struct cpumask *cpus;   /* it runs there, if that can be; NULL: anywhere */
	int64_t timeout_ns;
	int end_fd;    /* it is ended when this becomes readable; negative: it is not */
	int stderr_fd; /* emptied, and filled with what it says; its output goes there as well */
};
/*
 * Runs it without a shell and without a word. 0 when it has succeeded; 1 when it has not, with the
 * reason ("exit status 3"), malloc'd; -ECANCELED when a signal asked to stop meanwhile; or another
 * negative errno when it cannot be run.
 */
int hook_try(const struct hook_trial *trial, struct stop *stop, char **ret_why);
/* The hooks before all runs. Commands that have the same one share it: it is run once. Returns what
 * hook_run() returns. */
int hooks_set_up(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop);
/* The hooks after a run of the commands that were prepared for one, which ends early. */
void hooks_conclude(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop);
/* The hooks after all runs, as those before them, of all commands whose --setup was begun: they are
 * run once. A hook that fails does not keep the others from being run. */
int hooks_clean_up(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop);

#endif
