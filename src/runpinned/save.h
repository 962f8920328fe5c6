/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the result goes: -o FILE (replaced or appended to), --csv FILE, standard output, and, where
 * none of these was asked for, a file that keeps the newest result, so that no measurement is lost.
 */
#ifndef QUIESCE_RUNPINNED_SAVE_H
#define QUIESCE_RUNPINNED_SAVE_H

#include "basic/cleanup.h"
#include "result/document.h"
#include "runpinned/command.h"
#include "runpinned/options.h"

struct save;

/*
 * Opens everything before the first run, so that a place that cannot be written to is known then,
 * and a file that cannot be appended to with these commands' metadata. Says what is wrong, and
 * returns a negative errno.
 */
int save_open(const struct options *options, const struct commands *commands, struct save **ret);
/* A benchmark to which runs are appended has values of our own stamps: so must the new ones. */
bool save_wants_user_clock(const struct save *save);
/*
 * Writes everything. A result file that cannot be written in the end (the disk is full) is written
 * to a temporary folder instead, and said so. Says what is wrong; negative errno then.
 * ret_place is where the result stands, malloc'd, NULL if only standard output has it.
 */
int save_commit(struct save *save, const struct document_part *parts, size_t n, char **ret_place);
/* Leaves all files as they were. */
void save_free(struct save *save);

DEFINE_CLEANUP(save, save_free);

#endif
