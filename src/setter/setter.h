/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar that all setters share, and their tables:
 *
 *	TOOL [apply] [-c CPUS] [OPTIONS] [WHAT]
 *	TOOL status [...]
 *	TOOL restore
 *	TOOL VERB ...		of its own
 *
 * A setter brings a description, its own options, and a function that makes the plan.
 */
#ifndef QUIESCE_SETTER_SETTER_H
#define QUIESCE_SETTER_SETTER_H

#include <stdbool.h>

#include "basic/options.h"
#include "knob/engine.h"
#include "knob/knob.h"
#include "machine/cpumask.h"
#include "machine/topology.h"

enum setter_verb {
	SETTER_APPLY,
	SETTER_STATUS,
	SETTER_RESTORE,
};

/* What a plan is made for. */
struct setter_target {
	enum setter_verb verb; /* APPLY or STATUS */
	/* The CPUs of -c, else those of the running benchmark.target: exist, online or offline.
	 * NULL when none were given and no target runs. */
	const struct cpumask *cpus;
	bool cpus_of_target; /* -c was not given */
	/* Of setters that do not ask for its cores only the masks and n_cpus. */
	const struct topology *topology;
	bool strict;
	bool verbose;
};

/* How a verb of a setter's own was called. */
struct setter_verb_use {
	const char *cpus; /* of -c; NULL when it was not given */
	char **words;	  /* behind the verb, ended by NULL */
	bool json;
	bool verbose;
};

/* A verb of a setter's own, which is no turning of knobs. */
struct setter_verb_own {
	const char *name;
	const char *usage; /* for --help, without the tool's name: "list [--json]" */
	/* Says what is wrong, and returns the exit status. */
	int (*run)(const struct setter_verb_use *use, void *state);
};

struct setter {
	const char *name;
	const char *summary; /* one line for --help */
	const char *what;    /* "[base|min|max|FREQ]"; NULL for none */
	const char *help;    /* lines of --help on `what`; NULL for none */
	/* Of its own, ended by { 0 }, all with a name. NULL for none. */
	const struct option_row *options;
	/* Ended by one without a name. NULL for none. */
	const struct setter_verb_own *verbs;
	/* There must be CPUs for apply: of -c, or of a target that runs. */
	bool needs_cpus;
	bool needs_cores; /* its plan looks at what the CPUs are, not only at which there are */
	/* What --help calls the default where there are neither: "none". NULL: "all". */
	const char *no_cpus;
	const struct knob_backend *backends;
	/* As in struct engine. */
	unsigned (*rank)(const char *path);
	bool (*may_stay)(const char *path, int error);
	int (*find_narrowed)(
		const struct cpumask *missing, struct journal *journal, struct knob_plan *plan);
	int (*is_moved)(const char *path);
	/* What a person can do about a knob that could not be put back for that errno (positive);
	 * NULL where the errno says enough. The function may be NULL. */
	const char *(*explain)(const char *path, int error);

	/* The word WHAT. Says what is wrong and returns -EINVAL. */
	int (*parse_what)(const char *what, void *state);
	/* Makes the plan; says what is wrong, but for -ENOMEM: -EINVAL for wrong use, else a
	 * failure. */
	int (*plan)(const struct setter_target *target, struct knob_plan *plan, void *state);
	/* After a successful apply: whether the machine now is as it was meant to be (the frequency
	 * that a CPU shows). May add notes to the plan's knobs; says what is wrong, but for
	 * -ENOMEM, and returns a negative errno to have turned back what this apply has turned.
	 * NULL for none. */
	int (*verify)(const struct setter_target *target, struct knob_plan *plan, void *state);
	void *state;
};

/* The whole of a setter's main(): its exit status. */
int setter_main(const struct setter *setter, int argc, char *argv[]);

#endif
