/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a plan, or the results of restoring, as a table for people or as JSON. The table has one
 * row for knobs that differ only in their CPU, and shows values in a short form (masks as lists);
 * JSON has every knob, and the values as the kernel writes them.
 */
#ifndef QUIESCE_QUIET_SETTER_SHOW_H
#define QUIESCE_QUIET_SETTER_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/say.h"
#include "quiet/engine/knob.h"
#include "quiet/engine/restore.h"

/* verbose: also the knobs that are only kept for restore, and each knob in a row of its own. */
int show_plan(const struct knob_plan *plan, bool json, bool verbose, FILE *stream);
/*
 * Prints what has been done, what was refused and what only the host can do, in one line of a few
 * names. headline: what the turned knobs make together, in place of their names; may be NULL.
 * *ret_status: EXIT_FINDING if a knob was refused or is not as wanted, or if there is no knob at
 * all, not even one that the machine does not have; else EXIT_HOSTED if a knob is the host's; else
 * EXIT_DONE.
 */
int show_brief(const struct knob_plan *plan, const char *headline, FILE *stream,
	enum exit_status *ret_status);
int show_restored(const struct restore_rows *rows, bool json, FILE *stream);

#endif
