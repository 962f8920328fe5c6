/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of runpinned. */
#ifndef QUIESCE_RUNPINNED_OPTIONS_H
#define QUIESCE_RUNPINNED_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum env_pad_mode {
	ENV_PAD_NONE,
	ENV_PAD_FIXED,
	ENV_PAD_RANDOM,
};

/* Strings are those of argv. */
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

	char **program; /* the program and its arguments, NULL-terminated */
};

/* Says what is wrong and returns -EINVAL; 0 when the program is to go on, 1 when it is done (after
 * --help or --version). */
int options_parse(int argc, char *argv[], struct options *ret);

#endif
