/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The setters that the target runs. Their options are made once per start and written to
 * /run/quiesce/target (base/where/running.h), each under its own key, where the units and we read
 * them.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_SETTERS_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_SETTERS_H

#include <stdbool.h>

#include "quiet/benchmark-target/choose.h"
#include "quiet/benchmark-target/settings.h"

struct target_setter {
	const char *program;
	const char *unit;
	const char *part; /* what it makes quiet, for a person: "frequency" */
	/* "SMT": SMT_OPTIONS in /run/quiesce/target has the options. If that is absent, the setter
	 * is not to run. */
	const char *key;
	/* Makes the options of `apply`, malloc'd: words without blanks, separated by one blank.
	 * *ret_options stays NULL if the setter is not to run. *ret_why: why less is done than was
	 * asked for, for a person; a static string. */
	int (*make_options)(const struct settings *settings, const struct choice *choice,
		char **ret_options, const char **ret_why);
};

/* In the order of applying; restored in the reverse order. Ended by an entry without a program. */
extern const struct target_setter target_setters[];

/* NULL for an unknown key. */
const struct target_setter *target_find_setter(const char *key);

/* The options that the running target has for a setter, malloc'd. -ENODATA where it is not to run,
 * else the errors of running_read_value(). */
int target_read_options(const struct target_setter *setter, char **ret);
/* Why less is done than benchmark.conf asks for, malloc'd; *ret stays NULL where all of it is done.
 */
int target_read_why(const struct target_setter *setter, char **ret);
/* Whether the running target certainly leaves the setter alone: what the setter has set, somebody
 * has set by hand. */
bool target_leaves(const struct target_setter *setter);

enum {
	TARGET_WORDS_MAX = 36,
};

/* What STRICT=yes puts before a setter's options. The setters take it with `apply` alone. */
#define TARGET_STRICT_OPTION "--strict=refused"

/* The arguments of a setter: the verb, `second` (may be NULL) and the options above that the verb
 * takes, ended by NULL. The options point into *ret_options, malloc'd. Errors as above, and -E2BIG.
 */
int target_read_words(const struct target_setter *setter, const char *verb, const char *second,
	char **ret_options, char *words[static TARGET_WORDS_MAX]);

#endif
