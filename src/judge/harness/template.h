/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a command in which placeholders stand for what is known when it is run:
 *
 *	{command} --worker --loops {loops} -o {file}
 *	{program} -m asv.benchmark run {arguments} {benchmark}
 *	{command} {default:-test.benchtime=100ms} -test.count 1
 *
 * A word {default:OPTION} is there only where the user's command does not have this option.
 */
#ifndef QUIESCE_JUDGE_HARNESS_TEMPLATE_H
#define QUIESCE_JUDGE_HARNESS_TEMPLATE_H

#include <stdbool.h>

/* What the placeholders stand for. Of what is NULL, the placeholder is left as it is. */
struct template_values {
	char *const *command; /* the words of the user's command, of which there is at least one */
	const char *benchmark;
	const char *level; /* what separates the levels of {pattern}; NULL: there are none */
	const char *index; /* of the benchmark in a list that has no names */
	const char *loops;
	const char *file;
	const char *folder;
};

/*
 * Whether it can be split into words, and has the user's command in it: as {command}, or as
 * {program} and {arguments}, which are words of their own. -EINVAL with the reason, malloc'd. Ends
 * the command without memory, as do the next two.
 */
int template_check(const char *text, char **ret_why);

/* The words, NULL-terminated and malloc'd like each of them, of a text that was checked. What is
 * put in is not looked at for placeholders. */
char **template_fill_words(const char *text, const struct template_values *values);
/* The same of a text that is not split; {command} and the like have no meaning there. malloc'd. */
char *template_fill(const char *text, const struct template_values *values);
void template_free_words(char **words);

/* Whether the placeholder, such as "{index}", stands in the text; a text of NULL has none. */
bool template_has(const char *text, const char *placeholder);

#endif
