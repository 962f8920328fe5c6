/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a figure is found in what a program writes: a line that an extended regular
 * expression matches, or a path into JSON.
 *
 *	rps,1/s,higher=^Requests/sec: +([0-9.]+)$
 *	p99,\2,lower=^ +99% +([0-9.]+)(us|ms|s|m)$
 *
 * The number is what the first group matches, "\N" in a name or a unit is what group N matches.
 */
#ifndef QUIESCE_JUDGE_HARNESS_RULE_H
#define QUIESCE_JUDGE_HARNESS_RULE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/harness/jsonpath.h"
#include "judge/result/series.h"

enum figure_source {
	FIGURE_STDOUT,
	FIGURE_STDERR,
	FIGURE_FILE,
};

/* Which of several matches. */
enum figure_take {
	TAKE_ONE, /* there must be one */
	TAKE_LAST,
	TAKE_EACH, /* each is a figure of its own name; of one name, their mean */
	TAKE_SUM,
	TAKE_MEAN,
	TAKE_VALUES, /* each is a value of the one figure, which is called as its label */
};

/* In which way of running its harness a figure is looked for. */
enum figure_when {
	WHEN_ALWAYS,
	WHEN_HOSTED, /* one benchmark in a process */
	WHEN_AS_IS,  /* the program as the user gave it */
	WHEN_SERVED, /* the load of a service (runserved) */
};

enum {
	RULE_MAX_GROUPS = 9,
	RULE_NAME_MAX = 200, /* bytes of the name of a figure */
};

/* A line before that of the value, of which the first group is the name or the unit: the head of a
 * table. */
struct line_before {
	regex_t regex;
	bool is_there;
};

struct rule {
	char *label;   /* what a message calls it */
	char *name;    /* may have \N */
	char *unit;    /* the same; NULL: a number without a unit */
	char *pattern; /* as it was written */
	char *file;    /* of FIGURE_FILE */
	/* JSON: where the name and the unit of each value stand, in as many values; NULL: nowhere.
	 */
	struct jsonpath *name_path;
	struct jsonpath *unit_path;
	struct line_before name_line, unit_line; /* the newest such line counts */
	struct jsonpath *path;			 /* JSON; NULL: a regular expression */
	regex_t regex;
	bool has_regex;
	/* What is called so is left out: what a harness has computed of the values, such as their
	 * mean. */
	regex_t skip;
	bool has_skip;
	unsigned value_group;
	enum figure_source source;
	enum better better;
	enum figure_take take;
	enum figure_when when;
	bool is_exact; /* it is the same in all runs of a program */
	bool commas;   /* a number may be "1,234.56" */
	bool optional; /* not every way to call the program prints it */
};

/* The next functions end the command without memory. A refusal is -EINVAL, with the reason,
 * malloc'd. */

/*
 * A rule as one text, of --figure (is_json: of --figure-json): "NAME[,WORD]...=PATTERN". The words
 * are a unit, lower, higher or exact, each, last, sum or mean, stderr, @FILE, and commas, in any
 * order.
 */
int rule_parse(const char *text, bool is_json, struct rule *ret, char **ret_why);

/* Sets what a line KEY=VALUE of a harness file says (harness.h). -ENOENT for a key that rules lack.
 */
int rule_set(struct rule *rule, const char *key, const char *value, char **ret_why);
/* Whether the rule is whole; what follows from its other parts is filled in. */
int rule_complete(struct rule *rule, char **ret_why);

void rule_clear(struct rule *rule);

/* An extended regular expression of POSIX, in the C locale. Refused is also what other kinds of
 * regular expressions have, and POSIX would take for something else: a backslash before a letter or
 * a digit. */
int rule_compile(const char *pattern, regex_t *ret, char **ret_why);
/* Whether such an expression matches, and the first n groups, as regexec(3). */
bool rule_matches(const regex_t *regex, const char *line, size_t n, regmatch_t groups[]);

#endif
