/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a plan, or the results of restoring, as a table for people or as JSON. The table has one
 * row for knobs that differ only in their CPU, and shows values in a short form (masks as lists);
 * JSON has every knob, and the values as the kernel writes them.
 */
#ifndef QUIESCE_SETTER_SHOW_H
#define QUIESCE_SETTER_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "knob/knob.h"
#include "knob/restore.h"

/* verbose: also the knobs that are only kept for restore, and each knob in a row of its own. */
int show_plan(const struct knob_plan *plan, bool json, bool verbose, FILE *stream);
int show_restored(const struct restore_rows *rows, bool json, FILE *stream);

#endif
