/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of runpinned. */
#ifndef QUIESCE_MEASURE_OPTIONS_H
#define QUIESCE_MEASURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/figurerules.h"
#include "measure/launch.h"
#include "measure/parameters.h"
#include "measure/streams.h"
#include "measure/user.h"

#include "base/units.h"

struct host;

enum env_pad_mode {
	ENV_PAD_NONE,
	ENV_PAD_FIXED,
	ENV_PAD_RANDOM,
};

#define OPTIONS_MAX_COMMANDS 512     /* all combinations of parameters included */
#define OPTIONS_CORE_NS (150 * 1000) /* how long to look at the core, where nobody says */
#define OPTIONS_MAX_METADATA 32
#define OPTIONS_MAX_VARIABLES 64
#define OPTIONS_MAX_RUNS (100 * 1000 * 1000) /* also written out in messages of options.c */

/* Shell commands around the runs (hooks.h). */
enum hook_kind {
	HOOK_SETUP,    /* before all runs */
	HOOK_PREPARE,  /* before each run */
	HOOK_CONCLUDE, /* after each run */
	HOOK_CLEANUP,  /* after all runs */
	HOOK_KINDS,
};

/* The hooks of one kind: one for all programs, or one for each. */
struct option_hooks {
	const char *texts[OPTIONS_MAX_COMMANDS];
	size_t n;
};

/* A variable of --env. */
struct option_variable {
	const char *program; /* the name of the only program that has it; NULL: all have it */
	const char *text;    /* "NAME=VALUE" */
};

/* A program as it was typed. */
struct option_program {
	/* The name of the benchmark: given by the user, or the last part of the program's path, or
	 * the text that a shell runs. */
	const char *name;
	const char *option; /* "--command": where `text` is from */
	const char *text;   /* a command that is split into words, or is run by a shell; or NULL */
	char **argv;	    /* without a text: NULL-terminated, with at least the program's name */
	bool is_control;    /* --control: runs in turn with the others, but is not compared with
			     * them */
	bool is_shipped;    /* a control that is ours, whose argument is its length */
};

/* A program that is to be measured. */
struct option_command {
	const char *name;
	char *const *argv; /* NULL-terminated, with at least the program's name */
	/* Of a hosted harness (host.h): the words that the user gave, and the benchmark, or NULL.
	 */
	char *const *typed;
	const char *benchmark;
	const char *hooks[HOOK_KINDS]; /* NULL where there is none */
	/* The value of each parameter; NULL where neither the program nor its hooks have it. */
	const char *values[PARAMETERS_MAX];
	const char *input;	 /* NULL: /dev/null */
	const char *output_file; /* NULL: not into a file */
	/* "NAME=VALUE" of --env, without those of others; NULL-terminated. */
	const char *const *variables;
	size_t program; /* which one of the options' programs */
	/* The number of the command that it is compared with; its own number if others are compared
	 * with it. */
	size_t old;
	bool is_control;
	bool is_shipped;
};

/* Strings point into argv of main(), or are owned. Must be freed by options_clear(). */
struct options {
	const char *cpus; /* NULL: choose automatically */
	unsigned runs;
	unsigned warmups;
	/* --warmup auto: go on until the level has begun, up to so many; and leave out what comes
	 * before the level of values that a run has itself. */
	bool warmup_auto;
	unsigned max_warmups;
	/* 0 unless rel_error, decide or min_time_ns is set; OPTIONS_MAX_RUNS for no limit. */
	unsigned max_runs;
	const char *max_runs_option; /* "--max-runs", as messages name it */
	double rel_error;	     /* per cent; 0 when not given */
	double decide;		     /* per cent; 0 when not given */
	double improve;		     /* the same where the question is whether they are faster */
	const char *decide_option;   /* "--decide" or "--improve" */
	const char *session;	     /* the file of the tries of a search; NULL: none */
	const char *metric; /* by which programs are judged; NULL: the first figure, or the time */

	const char *output;
	const char *csv;
	const char *name;
	const char *events;
	/* "NAME=VALUE" of --metadata; each NAME is there once. */
	const char *metadata[OPTIONS_MAX_METADATA];
	size_t n_metadata;
	bool append;
	bool json;
	bool no_save;
	bool quiet;
	unsigned verbose;
	const struct unit *unit; /* of the times that are shown */
	bool sort_by_command;	 /* the order of the programs at the end; else by their speed */
	bool dry_run;
	bool quiesce;
	bool strict; /* with quiesce: all of it, or nothing */

	int64_t min_time_ns; /* of all runs together; 0 when not given */
	int64_t max_time_ns;
	int64_t timeout_ns; /* 0: no limit */
	bool no_aslr;
	bool vary;				 /* --vary */
	const char *factors[LAUNCH_MAX_FACTORS]; /* that it names; none: all that there are */
	size_t n_factors;
	bool clear_env;
	/* Each name is there once for all programs, and once for each of them. */
	struct option_variable variables[OPTIONS_MAX_VARIABLES];
	size_t n_variables;
	enum env_pad_mode env_pad;
	uint32_t env_pad_bytes; /* ENV_PAD_FIXED */
	uint64_t env_pad_seed;	/* ENV_PAD_RANDOM */
	bool env_pad_seeded;
	bool as_user;	       /* --user */
	const char *user_name; /* NULL: who has called sudo */
	struct user *user;     /* owned; NULL until it is found, and without --user */
	bool set_nice;
	int nice;
	int fifo_priority; /* 0 when not given */
	bool drop_caches;
	double cooldown; /* degrees Celsius; negative when not given */
	bool show_output;
	const char *input;	 /* --input, with parameters; NULL: /dev/null */
	const char *output_file; /* the file of --stdout, with parameters, or NULL */
	enum output_kind stdout_to;
	struct figure_rules figures;		      /* of --figure, --figure-json and --harness */
	const char *benchmarks[PARAMETER_VALUES_MAX]; /* of --benchmark */
	size_t n_benchmarks;
	bool as_is;
	struct host *host;	    /* owned; NULL where the programs run as they were given */
	bool ignore_failure;	    /* of every kind */
	bool ignored_statuses[256]; /* exit statuses that are no failures */
	struct option_hooks hooks[HOOK_KINDS];
	int64_t hook_timeout_ns;
	/* Who stamps the runs; chosen automatically where it is not given. */
	enum stamper stamper;
	bool stamper_given;
	bool no_wait;
	bool no_evidence;
	bool records;	 /* attach the events of inspect.h to all runs */
	bool core_half;	 /* look at it around every other run only */
	int64_t core_ns; /* how long to look at the core at each end of a run; 0: not at all */

	/* One program, or several programs that are run in turn and compared with the first. The
	 * control, if there is one, comes last. All names differ. */
	struct option_program programs[OPTIONS_MAX_COMMANDS];
	size_t n_programs;
	bool is_marked; /* a "--" stands before the program */
	struct parameters parameters;
	struct option_command commands[OPTIONS_MAX_COMMANDS];
	size_t n_commands;
	const char *shell;		    /* what runs the commands, as --shell has it, or NULL */
	char *const *empty_script;	    /* what starts that shell with nothing to do, or NULL */
	const char *const *empty_variables; /* of --env, for that */
	uint64_t seed;			    /* for the order in which several programs are run */
	bool seeded;
	unsigned control_length; /* rounds; 0 when not given */
	/* The control until all programs are known, then all zero. */
	struct option_program control;
	void **owned; /* memory that is freed with the options */
	size_t n_owned;
};

/* Room for the length of a control that is ours, in its argv[1]. */
#define OPTIONS_LENGTH_SIZE 16

/* How many commands are programs, not the control. */
size_t options_count_programs(const struct options *options);
/* Returns 0 to go on, a positive number when all is done (after --help or --version), or -EINVAL
 * after saying what is wrong. The commands are not there yet: see expand.h. */
int options_parse(int argc, char *argv[], struct options *ret);
/* How values of options are taken (struct option_row), for a command that has some of them. Those
 * of which nothing else is said are stored in a struct options, `into`. */
struct option_takers {
	int (*cpus)(const char *value, void *into);	 /* const char * */
	int (*runs)(const char *value, void *into);	 /* unsigned */
	int (*rel_error)(const char *value, void *into); /* double */
	int (*decide)(const char *value, void *into);	 /* double */
	int (*seconds)(const char *value, void *into);	 /* int64_t, in nanoseconds */
	int (*baseline)(const char *value, void *into);
	int (*command)(const char *value, void *into);
	int (*parameter_list)(const char *value, void *into);  /* struct parameters */
	int (*parameter_range)(const char *value, void *into); /* struct parameters */
	int (*seed)(const char *value, void *into);
	int (*env)(const char *value, void *into);
	int (*figure)(const char *value, void *into);	   /* struct figure_rules */
	int (*figure_json)(const char *value, void *into); /* struct figure_rules */
	int (*harness)(const char *value, void *into);	   /* struct figure_rules */
	int (*metadata)(const char *value, void *into);
	int (*verbose)(const char *value, void *into); /* unsigned */
	/* After the last one: whether they make sense together; fills in defaults. */
	int (*check)(struct options *o);
	/* Takes what stands behind the options as the last program. */
	int (*program)(char *argv[], struct options *o);
};
extern const struct option_takers option_takers;

/* "tracepoints", ...: the stamper as --stamps has it. */
const char *options_stamper_name(enum stamper stamper);
/* Without --stamps, asks for this stamper, a name or NULL, if it is one that this user can have. */
void options_follow_stamper(struct options *options, const char *name);
/* Whether two texts "NAME=VALUE", or NAME alone, have the same NAME. */
bool options_is_same_variable(const char *a, const char *b);
/* Whether one of the variables, which are NULL-terminated, has the name of this one. */
bool options_has_variable(const char *const variables[], const char *text);
/* "setup", "prepare", "conclude" or "cleanup". */
const char *options_hook_name(enum hook_kind kind);
/* "pipe", "pipe-here" or "terminal": what --stdout has for it; NULL for a file and for none. */
const char *options_stdout_name(const struct options *options);
/* "full", "records", "half-core", "core", "no-core" or "none". */
const char *options_evidence_name(const struct options *options);
/* Frees the memory with the options, and returns it. NULL, which an allocation has returned, ends
 * the command (base/xalloc.h). */
void *options_own(struct options *options, void *memory);
void options_clear(struct options *options);

#endif
