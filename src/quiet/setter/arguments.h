/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a person has asked of a setter: its command line.
 */
#ifndef QUIESCE_QUIET_SETTER_ARGUMENTS_H
#define QUIESCE_QUIET_SETTER_ARGUMENTS_H

#include <stdbool.h>

#include "quiet/setter/setter.h"

struct arguments {
	enum setter_verb verb;
	const char *cpus;
	bool dry_run;
	bool json;
	bool brief;
	bool force;
	bool once;
	bool strict;
	bool strict_refused; /* --strict=refused */
	bool verbose;
	bool what;	     /* WHAT was given */
	const char *special; /* an option that only this setter has and that was given; else NULL */
	/* A verb that only this setter has, NULL for the common verbs; and the words after it. */
	const struct setter_verb_own *own;
	char **words;
};

/* 0 to go on, positive after --help or --version, -EINVAL after saying what is wrong: also an
 * option that has no effect with this verb. */
int arguments_parse(const struct setter *setter, int argc, char *argv[], struct arguments *ret);

#endif
