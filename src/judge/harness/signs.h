/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose output it is: a program that measures says so by figures that some harness knows. Each
 * harness has its signs, texts that its program prints and others do not ("Sign=" in its file). Of
 * one whose signs are there, the figures are looked for as well: a program that only speaks of
 * another one has none.
 */
#ifndef QUIESCE_JUDGE_HARNESS_SIGNS_H
#define QUIESCE_JUDGE_HARNESS_SIGNS_H

#include "judge/harness/extract.h"

/*
 * The name, malloc'd, of the harness whose figures are in what a program has written to standard
 * output and standard error; NULL where there is none. Those of harness_folders() are asked, in the
 * order of their names. A file that cannot be read is passed over. Ends the command without memory.
 */
char *signs_recognize(const struct output *standard_output, const struct output *standard_error);

#endif
