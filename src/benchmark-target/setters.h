/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The setters that the target runs. Their options are worked out once per start and stand in
 * /run/quiesce/target (state/running.h), each under a key of its own, for the units and for us.
 */
#ifndef QUIESCE_BENCHMARK_TARGET_SETTERS_H
#define QUIESCE_BENCHMARK_TARGET_SETTERS_H

#include "benchmark-target/choose.h"
#include "benchmark-target/settings.h"

struct target_setter {
	const char *program;
	const char *unit;
	/* "SMT", of which the options are SMT_OPTIONS; a key that is absent: left as it is. */
	const char *key;
	/* The options behind `apply`, malloc'd; words without blanks, one blank between. NULL in
	 * *ret_options to leave it as it is. *ret_why, for a person, where less is done than was
	 * asked for. */
	int (*make_options)(const struct settings *settings, const struct choice *choice,
		char **ret_options, const char **ret_why);
};

/* In the order in which they are to be applied; they are restored backwards. Ended by one without a
 * program. */
extern const struct target_setter target_setters[];

/* By key; NULL when there is none. */
const struct target_setter *target_find_setter(const char *key);

/* What the running target calls it with, malloc'd: -ENODATA where it is left as it is, else the
 * errors of running_read_value(). */
int target_read_options(const struct target_setter *setter, char **ret);

#endif
