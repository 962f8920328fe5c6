/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runpinned and isol-check keep for their user from one measurement to the next, below
 * ${XDG_STATE_HOME:-$HOME/.local/state}/quiesce.
 */
#ifndef QUIESCE_STATE_USERSTATE_H
#define QUIESCE_STATE_USERSTATE_H

/* The path of a file in that folder, malloc'd; the folders are made. -ENOENT where HOME or the
 * folder does not exist or belongs to another user: under sudo, HOME may still be that of the
 * caller. -ENOMEM, or the error of making a folder. */
int userstate_path(const char *name, char **ret);

/*
 * How many independent additions a whole core does per cycle (sampler/core.h): the largest figure
 * that was seen on this model of CPU. `model` names the CPU, and the kind of its cores where the
 * machine has several. -ENODATA where none is known for this model.
 */
int userstate_load_whole_core(const char *model, double *ret_adds);
/* Keeps the figure when it is larger than the one that is known. */
int userstate_store_whole_core(const char *model, double adds);
/* The figure of the model in the text of that file: lines such as "42731 NAME OF THE MODEL", in
 * 1/10000. Lines of another form are ignored. */
int userstate_parse_whole_core(const char *text, const char *model, double *ret_adds);

#endif
