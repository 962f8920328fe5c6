/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of one run of a program, from what it has written. A figure that is missing, or of
 * which there are two where one is expected, is an error: six harnesses that were asked for an
 * unknown benchmark end with status 0, and print no number.
 */
#ifndef QUIESCE_JUDGE_HARNESS_EXTRACT_H
#define QUIESCE_JUDGE_HARNESS_EXTRACT_H

#include <stddef.h>

#include "judge/harness/harness.h"
#include "judge/harness/quantity.h"
#include "judge/harness/rule.h"

struct figure {
	char *name;
	char unit[QUANTITY_UNIT_SIZE]; /* a base unit (quantity.h); "" for a number without one */
	enum better better;
	double value;
	double step; /* in which its source counts, by its digits; 0 where all digits are there */
	bool is_exact;
	/* Of how many values of one process it is the mean, and the sum of their squared distances
	 * from it. They are no independent samples. */
	size_t n;
	double squares;
	double *values; /* all of them in their order; NULL where it is their last one, or sum */
	size_t n_values;
};

struct figures {
	struct figure *items;
	size_t n;
	size_t capacity;
};

enum {
	EXTRACT_LINE_MAX = 4096, /* longer lines are cut: an expression may take long for one */
	EXTRACT_FIGURES_MAX = 1000,
};

/* What a program has written. */
struct output {
	const char *text;
	size_t size;
};

/*
 * Appends the figures that a rule finds; an optional one may find none. -EBADMSG with the reason,
 * malloc'd, where the output is not as it should be; then figures of the rule may have been
 * appended. Ends the command without memory.
 */
int extract_figures(const struct rule *rule, const struct output *output, struct figures *figures,
	char **ret_why);
/*
 * The texts that a rule finds, such as names, NULL-terminated and malloc'd like each of them: what
 * its first group matches in each line, or the values that its path leads to. -EBADMSG as above.
 */
int extract_texts(
	const struct rule *rule, const struct output *output, char ***ret, char **ret_why);
/* Whether the expression matches a line; *ret_line is that line then, cut and malloc'd. */
bool extract_matches(const regex_t *regex, const struct output *output, char **ret_line);
/* -EBADMSG with the reason, malloc'd, where a line says that the run failed. */
int extract_check(const struct harness *harness, const struct output *output, char **ret_why);

/*
 * Adds a figure, whose name and values it takes. Of a name that one of those from the index `first`
 * on has, the two become what `take` says. Returns its index; -EBADMSG with the reason, malloc'd,
 * where they cannot, and for a name that one before has. Ends the command without memory.
 */
int figures_add(struct figures *figures, size_t first, enum figure_take take, struct figure *figure,
	char **ret_why);
void figures_clear(struct figures *figures);

#endif
