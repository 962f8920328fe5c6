/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A harness: a program that measures, and how its figures are found in what it writes. It is
 * a file, quiesce-harness(5):
 *
 *	# wrk 4, a load generator: a fixed time
 *	Fail=^unable to connect
 *
 *	[rps]
 *	Match=^Requests/sec: +([0-9.]+)$
 *	Unit=1/s
 *	Better=higher
 */
#ifndef QUIESCE_JUDGE_HARNESS_HARNESS_H
#define QUIESCE_JUDGE_HARNESS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/harness/rule.h"

#define HARNESS_SUFFIX ".conf"
/* The key that signs.h reads. */
#define HARNESS_SIGN "Sign"

enum {
	HARNESS_MAX_RULES = 64,
	HARNESS_MAX_FAILS = 16,
	HARNESS_MAX_RUNS = 4,
	HARNESS_MAX_VARIABLES = 8,
	HARNESS_MAX_SIZE = 256 * 1024, /* of its file */
};

/*
 * How it is made to run one benchmark in one process. The texts are templates (template.h), or NULL
 * where the file has none.
 */
struct hosting {
	char *runs[HARNESS_MAX_RUNS]; /* the first one that this version of it knows is taken */
	size_t n_runs;		      /* 0: it cannot be hosted */
	char *list;		      /* lists the benchmarks; NULL: nothing does */
	struct rule names;	      /* which are found in the output of it */
	char *calibrate;	      /* finds the number of loops; NULL: it fixes none */
	struct rule loops;
	char *variables[HARNESS_MAX_VARIABLES]; /* NAME=VALUE */
	size_t n_variables;
	char *level;   /* what separates the levels of a name, as expressions have it */
	char *one_cpu; /* what having one CPU changes in its programs */
};

/* A line that it matches says that the run failed. */
struct fail {
	regex_t regex;
	char *because; /* why it has, or what to do; NULL where the line says it */
};

struct harness {
	char *name; /* that of its file, without folder and suffix */
	struct rule *rules;
	size_t n_rules;
	struct fail *fails;
	size_t n_fails;
	struct hosting hosting;
};

/* Ends the command without memory. -EINVAL with *ret_why, malloc'd: "line 3: ...". */
int harness_parse(const char *name, const char *text, struct harness **ret, char **ret_why);
void harness_free(struct harness *harness);
DEFINE_CLEANUP(harness, harness_free);

/* Keeps the figures that are looked for where it is run in this way, for good: another choice
 * among those that are left changes nothing. What is hosted is one benchmark, so that each of
 * several figures is a value of one. -ENODATA where it has had some, and has none now. */
int harness_choose(struct harness *harness, enum figure_when how);

/*
 * Reads a harness: a file where `name` has a '/' or ends with HARNESS_SUFFIX, else the one of that
 * name in the folders of harness_folders(). -ENOENT where there is none; -EINVAL and others with
 * *ret_why.
 */
int harness_read(const char *name, struct harness **ret, char **ret_why);

/*
 * Where harnesses are looked for, in this order; malloc'd, NULL-terminated: the user's own,
 * ${XDG_CONFIG_HOME:-$HOME/.config}/quiesce/harnesses, where that folder is the user's (under sudo,
 * HOME may still be that of the caller, who must not tell root what to read), and those of quiesce,
 * beside this program in a build tree.
 */
char **harness_folders(void);
void harness_folders_free(char **folders);

#endif
