/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of runpinned. */
#ifndef QUIESCE_RUNPINNED_OPTIONS_H
#define QUIESCE_RUNPINNED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum env_pad_mode {
	ENV_PAD_NONE,
	ENV_PAD_FIXED,
	ENV_PAD_RANDOM,
};

#define OPTIONS_MAX_COMMANDS 16

/* A program that is to be measured. */
struct option_command {
	const char *name;  /* of its benchmark: given, or the last part of the program's path */
	char **argv;	   /* NULL-terminated, with at least the program's name */
	char *name_memory; /* NULL where name is a word of ours or of argv */
	char **words;	   /* NULL where argv is the end of ours */
};

/* Strings are those of argv. To be cleared with options_clear(). */
struct options {
	const char *cpus; /* NULL: auto */
	unsigned runs;
	unsigned warmups;
	unsigned max_runs; /* 0 unless rel_error is set */
	double rel_error;  /* per cent, 0: not asked for */

	const char *output;
	const char *csv;
	const char *name;
	const char *events;
	bool append;
	bool json;
	bool no_save;
	bool quiet;
	unsigned verbose;
	bool dry_run;
	bool quiesce;

	int64_t timeout_ns; /* 0: none */
	bool no_aslr;
	bool clear_env;
	enum env_pad_mode env_pad;
	uint32_t env_pad_bytes; /* ENV_PAD_FIXED */
	uint64_t env_pad_seed;	/* ENV_PAD_RANDOM */
	bool env_pad_seeded;
	bool set_nice;
	int nice;
	int fifo_priority; /* 0: not asked for */
	bool drop_caches;
	double cooldown; /* degrees Celsius, negative: not asked for */
	bool show_output;
	bool ignore_failure;
	bool no_wait;
	bool no_evidence;

	/* One, or several that are run in turn and compared with the first. Their names differ. */
	struct option_command commands[OPTIONS_MAX_COMMANDS];
	size_t n_commands;
	uint64_t seed; /* of the order in which several are run */
	bool seeded;
};

/* Says what is wrong and returns -EINVAL; 0 when it is to go on, positive when it is done (after
 * --help or --version). */
int options_parse(int argc, char *argv[], struct options *ret);
void options_clear(struct options *options);

#endif
