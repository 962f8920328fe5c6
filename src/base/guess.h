/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suggests a name when a word is unknown: the name from which the word differs by the fewest
 * letters left out, added, replaced or exchanged with their neighbour, if these are at most a third
 * of the word; or a name that begins with the word.
 */
#ifndef QUIESCE_BASE_GUESS_H
#define QUIESCE_BASE_GUESS_H

#include <stddef.h>

struct guess {
	const char *word;
	const char *name; /* the best name so far, borrowed; NULL when no name is near */
	size_t distance;
};

/* Begin with { .word = WORD }, and offer each existing name. Of several names that are equally
 * near, the first is kept. */
void guess_offer(struct guess *guess, const char *name);

/* Room for " (did you mean --NAME?)". */
#define GUESS_TEXT_SIZE 80
/* " (did you mean --NAME?)", with `before` in front of the name, or "" without a guess. */
const char *guess_text(
	const struct guess *guess, const char *before, char buf[static GUESS_TEXT_SIZE]);

#endif
