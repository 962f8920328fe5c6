/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records this machine, so that somebody else can examine it: --record FILE.tar.gz.
 *
 * Only the files listed in record.c are recorded: those that the checks and the other tools read.
 * Private data is removed from texts that may hold some (scrub.h). Processes are not recorded. The
 * same state of the machine gives the same file, byte for byte.
 */
#ifndef QUIESCE_LOOK_RECORDING_RECORD_H
#define QUIESCE_LOOK_RECORDING_RECORD_H

#include <stdbool.h>

/* Records this machine to `path`. Says what is wrong, and with `verbose` the names of all recorded
 * files, on standard error. Returns the exit status. */
int record_run(const char *path, bool verbose);

#endif
