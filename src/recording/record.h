/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes down this machine for somebody else to look at: --record FILE.tar.gz.
 *
 * What goes in is listed by name (record.c), which is what the checks and the other tools read.
 * What is not listed stays out; texts that may hold more than they need are gone through (scrub.h).
 * Processes are left out altogether. The same state of the machine gives the same file, byte for
 * byte.
 */
#ifndef QUIESCE_RECORDING_RECORD_H
#define QUIESCE_RECORDING_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "recording/scrub.h"
#include "recording/tarball.h"

struct recording {
	struct tarball_entry *entries; /* their texts are malloc'd */
	size_t n;
	size_t bytes;
	size_t capacity;
};

/* -ENOMEM, -E2BIG beyond TARBALL_ENTRIES_MAX or TARBALL_BYTES_MAX. */
int record_read(const struct scrub_names *names, struct recording **ret);
void recording_free(struct recording *recording);
DEFINE_CLEANUP(recording, recording_free);

/* Says what is wrong, and with `verbose` on standard error what was recorded. The exit status. */
int record_run(const char *path, bool verbose);

#endif
