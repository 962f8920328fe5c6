/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What setters show: a plan, and what came of restoring, as a table for people or as JSON. The
 * table puts knobs together that are alike in all but their CPU, and shows values as they are short
 * and easy to read (masks as lists); JSON has every knob and its values as they are.
 */
#ifndef QUIESCE_SETTER_SHOW_H
#define QUIESCE_SETTER_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "knob/knob.h"
#include "knob/restore.h"

/* verbose: also the knobs that are merely kept, and each in a row of its own. */
int show_plan(const struct knob_plan *plan, bool json, bool verbose, FILE *stream);
int show_restored(const struct restore_rows *rows, bool json, FILE *stream);

#endif
