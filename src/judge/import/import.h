/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of other tools: their content tells which tool wrote them. What is none of theirs is left
 * to judge/result/reader.h, which reads pyperf's, hyperfine's and google-benchmark's as they come;
 * these here are read as a whole, and become a result of format 1.0 in memory.
 */
#ifndef QUIESCE_JUDGE_IMPORT_IMPORT_H
#define QUIESCE_JUDGE_IMPORT_IMPORT_H

#include <stdbool.h>

#include "base/facts.h"
#include "base/text.h"
#include "judge/harness/harness.h"
#include "judge/result/input.h"

/* A file that is open. All zero before. */
struct import {
	struct input *input; /* of a result, which suite_read_input() reads */
	bool is_imported;    /* from another tool's file */
	bool is_unknown;     /* it begins as no result does that is known */
	char *printed_by;    /* the harness whose program prints this; NULL: none, or not unknown */
	struct text text;    /* the result, where it is */
	struct facts left_out; /* as in struct suite: of what is not in that result */
};

/*
 * Opens a file, "-" for standard input, or criterion's folder. With a harness it is what the
 * program of that harness has written.
 *
 * Ends the command without memory. With *ret_why, malloc'd and safe for a terminal: -EINVAL for a
 * file of another tool that is not as it should be, with the place in front ("3:17: ..."), where it
 * has one, and -ENODATA for one in which all benchmarks are left out. Else the errors of
 * input_open() and input_read().
 */
int import_open(
	const char *path, const struct harness *harness, struct import *ret, char **ret_why);
/* The same of an input that is open, which is taken over; `path` is where to look for files beside
 * it. */
int import_open_input(struct input *input, const char *path, const struct harness *harness,
	struct import *ret, char **ret_why);
void import_clear(struct import *import);
#define _cleanup_import_ __attribute__((cleanup(import_clear)))

/* Behind the reason why a file is refused: what can be read, or how this one is, where it
 * is_unknown; "" for others. malloc'd; ends the command without memory. */
char *import_hint(const struct import *import);

#endif
