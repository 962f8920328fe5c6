/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tries of one search (--session FILE): a person, or a program, who tries one patch after
 * another finds one that seems to be faster if there are but enough of them. So each comparison
 * wants more evidence than those before it, and less again after each that was a find: by e-LOND
 * (Xu and Ramdas, Online multiple testing with e-values, 2024) with weights of 1 / (t (t + 1)), try
 * number t is settled by an e-value of
 *
 *	100 t (t + 1) / (1 + finds before it)
 *
 * Of all that is said to be faster in a session, on average at most 1 % is not, however many tries
 * there are, whatever they depend on, and whenever the search ends. A try that was broken off
 * counts. That one is not faster is settled as without a session: a good one is missed as seldom.
 *
 * The file has a line for each beginning and each end, and grows only at its end:
 *
 *	quiesce session 1
 *	begin 1 2026-11-28T15:20:00Z 200 patch-a
 *	end 1 not faster
 *	begin 2 2026-11-28T15:21:10Z 600 patch-b
 */
#ifndef QUIESCE_MEASURE_TRIES_H
#define QUIESCE_MEASURE_TRIES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "measure/command.h"

struct tries;

/* Opens the file of the options, or makes it, with the rights of --user. Says what is wrong, and
 * returns a negative errno. *ret is NULL without --session. */
int tries_open(const struct options *options, struct tries **ret);
/* Counts a try for each comparison of the commands, and tells each what it wants. Says what is
 * wrong, and returns a negative errno: the file is none of a session, or it cannot be written, or
 * --max-runs is less than the pairs that it takes. */
int tries_begin(struct tries *tries, const struct options *options, struct commands *commands);
/* Which try the comparison of a command is, from 1 on; 0 where it is none. */
unsigned tries_number(const struct tries *tries, size_t command);
/* How many pairs the try after these takes at least, if all of them speak for it. */
size_t tries_next_least(const struct tries *tries, const struct commands *commands);
/* Writes down how they ended. A failure is said as a warning: a find that the file does not have
 * makes the tries after it want more, and no less. */
void tries_end(struct tries *tries, const struct commands *commands);
void tries_free(struct tries *tries);

/* What is in such a file. */
struct tries_count {
	unsigned n;	/* tries that were begun */
	unsigned found; /* of them */
};

/* Counts the tries in the text of such a file, which may be empty. Returns 0, or the number of the
 * first line that does not belong there. */
size_t tries_parse(const char *text, struct tries_count *ret);
/* The e-value that try number t wants, from 1 on. */
double tries_wanted(unsigned t, unsigned found);

DEFINE_CLEANUP(tries, tries_free);

#endif
