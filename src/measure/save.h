/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves the result: in -o FILE (replaced or appended to), in --csv FILE, on standard output, or,
 * when none of these was asked for, in a file that keeps the newest result, so that no measurement
 * is lost.
 */
#ifndef QUIESCE_MEASURE_SAVE_H
#define QUIESCE_MEASURE_SAVE_H

#include "base/cleanup.h"
#include "judge/result/document.h"
#include "measure/command.h"
#include "measure/options.h"

struct save;

/*
 * Opens all files before the first run: a file that cannot be written, or to which these commands
 * cannot be appended, has to be known then. Says what is wrong, and returns a negative errno.
 */
int save_open(const struct options *options, const struct commands *commands, struct save **ret);
/* Whether runs are appended to a benchmark that was timed by our own stamps: the new runs have to
 * be timed by them, too. */
bool save_wants_user_clock(const struct save *save);
/* Who stamped the runs to which the new runs are appended (METADATA_STAMPS); NULL where that is not
 * known. */
const char *save_get_stamper(const struct save *save);
/* The control of the runs to which the new runs are appended, "runpinned-control 256"; NULL for
 * none. */
const char *save_get_control(const struct save *save);
/* Whether the program that these metadata describe is measured with the same control. Says why not;
 * -EINVAL. */
int save_check_control(const struct save *save, const struct facts *metadata);
/*
 * Writes all files. A result file that cannot be written (the disk may be full) is written to a
 * temporary folder instead, which is said. Says what is wrong, and returns a negative errno.
 * *ret_place is the path of the result, malloc'd; NULL if it is on standard output only.
 */
int save_commit(struct save *save, const struct document_part *parts, size_t n, char **ret_place);
/* Gives up: all files stay as they were. */
void save_free(struct save *save);

DEFINE_CLEANUP(save, save_free);

#endif
