/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a program finds as its standard input and output. */
#ifndef QUIESCE_MEASURE_STREAMS_H
#define QUIESCE_MEASURE_STREAMS_H

#include <stdbool.h>

/* Where --stdout sends what the program writes. */
enum output_kind {
	OUTPUT_NULL,
	OUTPUT_FILE,
	OUTPUT_PIPE,	  /* the keeper reads it (keeper.h) */
	OUTPUT_PIPE_HERE, /* the launcher reads it, on the CPUs of the program */
	OUTPUT_TERMINAL,  /* the keeper reads it; without a file also standard input */
};

/* The descriptors are 0 where no file was asked for: 0 is our own standard input, which main()
 * keeps open. */
struct streams {
	int input;
	int output;
};

/* Opens the files of --input and --stdout, either of which may be NULL. When a file of --stdout
 * is not to be made, this only finds out whether it can be, and leaves it out. With read_output
 * what is written is going to be read: it goes to a file in memory where no file was asked for.
 * Says what is wrong and returns a negative errno. */
int streams_open(const char *input_file, const char *output_file, bool make, bool read_output,
	struct streams *ret);
/* Warns when our own standard input holds something that no program will read. */
void streams_warn_of_unread_input(void);
void streams_close(struct streams *streams);

#endif
