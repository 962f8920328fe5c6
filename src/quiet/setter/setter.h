/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line that all setters share, and what they print:
 *
 *	TOOL [apply] [-c CPUS] [OPTIONS] [WHAT]
 *	TOOL status [...]
 *	TOOL restore
 *	TOOL VERB ...		a verb that only this setter has
 *
 * A setter provides a description, its own options, and a function that makes the plan.
 */
#ifndef QUIESCE_QUIET_SETTER_SETTER_H
#define QUIESCE_QUIET_SETTER_SETTER_H

#include <stdbool.h>

#include "base/machine/cpumask.h"
#include "base/machine/irqline.h"
#include "base/machine/topology.h"
#include "base/options.h"
#include "quiet/engine/engine.h"
#include "quiet/engine/knob.h"

enum setter_verb {
	SETTER_APPLY,
	SETTER_STATUS,
	SETTER_RESTORE,
};

/* What a plan is made for. */
struct setter_target {
	enum setter_verb verb; /* APPLY or STATUS */
	/* The CPUs of -c, else those of the running benchmark.target: they exist, online or
	 * offline. NULL when -c was not given and no target runs. */
	const struct cpumask *cpus;
	bool cpus_of_target; /* `cpus` are those of the target, not of -c */
	/* Only the masks and n_cpus are set; with needs_cores also the cores. */
	const struct topology *topology;
	bool verbose;
	/* What earlier applies have set, for plan(); NULL when there is nothing. */
	struct journal *journal;
	/* The interrupts, for irqlines_read_named(); plan() finds them as they are now. */
	struct irqlines *lines;
};

/* The command line of a verb that only this setter has. */
struct setter_verb_use {
	const char *cpus; /* the value of -c; NULL when it was not given */
	char **words;	  /* the words after the verb, ended by NULL */
	bool json;
};

/* A verb that only this setter has, and that turns no knobs. */
struct setter_verb_own {
	const char *name;
	const char *usage; /* for --help, without the tool's name: "list [--json]" */
	/* Says what is wrong, and returns the exit status. */
	int (*run)(const struct setter_verb_use *use, void *state);
};

struct setter {
	/* The setter's name, and how its knobs are turned: `tool` to `is_moved`. The rest is set
	 * for each call. */
	struct engine engine;
	const char *summary; /* a line or two for --help */
	const char *what;    /* "[base|min|max|FREQ]"; NULL for none */
	const char *help;    /* lines of --help on `what`; NULL for none */
	/* Options that only this setter has, all with a long name, ended by { 0 }. NULL for none.
	 */
	const struct option_row *options;
	/* Ended by a verb without a name. NULL for none. */
	const struct setter_verb_own *verbs;
	/* Whether more knobs may have to be turned after this plan, such as those of threads that
	 * were started meanwhile: then plan() and apply are repeated until nothing is left. NULL:
	 * never. */
	bool (*repeats)(const struct knob_plan *plan);
	/* After an apply of this plan has failed, and all was put back: whether the machine lacks
	 * what this plan needs, and plan() will now make another plan. NULL: never. */
	bool (*has_substitute)(const struct knob_plan *plan, void *state);
	/* An ordinary user may apply it to what belongs to him, with his own journal. */
	bool serves_users;
	bool needs_cpus;  /* apply needs CPUs: of -c, or of a running target */
	bool needs_cores; /* the plan needs the cores of the topology, not only the masks of CPUs */
	/* The word in --help for the default CPUs without -c and target: "none". NULL: "all". */
	const char *no_cpus;
	/* What the knobs of this plan make together, for --brief: "an isolated partition"; a static
	 * text. NULL: the knobs are named. The function may be NULL. */
	const char *(*headline)(const struct knob_plan *plan);
	/* Why a knob could not be put back with this errno (positive), and what a person can do
	 * about it; NULL where the errno says enough. The function may be NULL. */
	const char *(*explain)(const char *path, int error);

	/* Parses the word WHAT. -EINVAL after saying what is wrong. NULL: there is no such word. */
	int (*parse_what)(const char *what, void *state);
	/* Whether the user has named what to turn, instead of the default: then an apply that can
	 * turn nothing is a finding (EXIT_FINDING). NULL: never. */
	bool (*is_by_name)(const void *state);
	/* Makes the plan. Says what is wrong, except for -ENOMEM. -EINVAL for wrong use, any other
	 * negative errno for a failure. */
	int (*plan)(const struct setter_target *target, struct knob_plan *plan, void *state);
	/* After a successful apply: whether the machine is as it should be (such as the frequency
	 * that a CPU shows). May add notes to the plan's knobs. Says what is wrong, except for
	 * -ENOMEM; on a negative errno the engine turns back what this apply has turned. NULL: no
	 * check. */
	int (*verify)(const struct setter_target *target, struct knob_plan *plan, void *state);
	/* After an apply: whether the machine now shows what this plan could not know, such as a
	 * frequency that is told only while boost is off. Then plan() and apply follow once more,
	 * as one apply with the first. NULL: never. */
	bool (*shows_more)(const void *state);
	void *state; /* for parse_what(), plan(), verify() and the verbs */
};

/* All that a setter's main() has to do, which is in verbs.c. Returns the exit status. */
int setter_main(const struct setter *setter, int argc, char *argv[]);

#endif
