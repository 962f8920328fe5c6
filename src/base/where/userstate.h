/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runpinned and isol-check keep for their user from one measurement to the next, below
 * ${XDG_STATE_HOME:-$HOME/.local/state}/quiesce.
 */
#ifndef QUIESCE_BASE_WHERE_USERSTATE_H
#define QUIESCE_BASE_WHERE_USERSTATE_H

#include <stdbool.h>

#include "base/machine/topology.h"

/*
 * The path of a file in that folder, malloc'd; the folders are made. -ENOENT where HOME or the
 * folder does not exist or belongs to another user: under sudo, HOME may still be that of the
 * caller. -ENOMEM, or the error of making a folder. Except for -ENOMEM, *ret_why says why,
 * malloc'd: "/home/me/.local: Permission denied". ret_why may be NULL.
 */
int userstate_path(const char *name, char **ret, char **ret_why);

/*
 * How many independent additions a whole core does per cycle (library/core.h), on cores of this
 * kind of this model of CPU: `best`, which was seen just now, or an earlier figure, if that is
 * larger. *ret_known says whether there is an earlier figure. The larger figure is kept; where the
 * folder cannot be read or written, earlier figures are unknown. model may be NULL: then nothing is
 * kept.
 */
double userstate_settle_whole_core(
	const char *model, enum topology_kind kind, double best, bool *ret_known);
/* The figure in the text of that file: lines such as "42731 NAME OF THE MODEL, efficiency", in
 * 1/10000, without a kind where all cores are alike. Lines of another form are ignored. */
int userstate_parse_whole_core(
	const char *text, const char *model, enum topology_kind kind, double *ret_adds);

#endif
