/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the programs as they were typed to the commands that are run: split into words or handed to
 * a shell, with their hooks, once for each combination of parameters, and checked together.
 */
#ifndef QUIESCE_MEASURE_EXPAND_H
#define QUIESCE_MEASURE_EXPAND_H

#include "measure/options.h"

/* Makes options->commands of options->programs. 0, or -EINVAL after saying what is wrong. */
int expand_programs(struct options *options);
/* The words and the variables of the program of that number, with the first values of the
 * parameters, as a hosted harness is asked for its benchmarks (hostlist.h). */
int expand_first(struct options *options, size_t index, char *const **ret_words,
	const char *const **ret_variables);

#endif
