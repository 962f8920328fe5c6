/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command that was given as one text, as the words that it is made of. Quotes work as in a shell
 * ('...' as it stands; "..." with \" \\ \$ \` inside; \ before a character outside), and nothing
 * else does: there is no shell behind it, and a text that wants one is refused rather than
 * misunderstood.
 */
#ifndef QUIESCE_BASIC_WORDS_H
#define QUIESCE_BASIC_WORDS_H

/*
 * The words as a NULL-terminated vector, words and all in one block for free(3). -EINVAL when they
 * are none; *ret_why is a phrase then, a static string: "a quote is not closed".
 */
int words_split(const char *text, char ***ret, const char **ret_why);

#endif
