/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the programs find as their standard input and output. */
#ifndef QUIESCE_RUNPINNED_STREAMS_H
#define QUIESCE_RUNPINNED_STREAMS_H

#include "runpinned/options.h"

/* The descriptors are 0 where no file was asked for: 0 is our own standard input, which main()
 * keeps open. */
struct streams {
	int input;
	int output;
};

/* Opens the files of --input and --stdout, and warns when our own standard input holds something
 * that no program will read. Says what is wrong and returns a negative errno. */
int streams_open(const struct options *options, struct streams *ret);
void streams_close(struct streams *streams);

#endif
