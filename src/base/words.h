/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a command that was given as one text into words. Quotes work as in a shell ('...'
 * literally; "..." with \" \\ \$ \` inside; \ before a character outside), and {NAME} is literal,
 * as in a shell. There is no other shell syntax: a text that needs a shell is refused rather than
 * misunderstood, with a reason that names the option --shell.
 */
#ifndef QUIESCE_BASE_WORDS_H
#define QUIESCE_BASE_WORDS_H

/*
 * The words as a NULL-terminated vector; one free(3) frees vector and words. On -EINVAL *ret_why is
 * a phrase, a static string: "a quote is not closed".
 */
int words_split(const char *text, char ***ret, const char **ret_why);

#endif
