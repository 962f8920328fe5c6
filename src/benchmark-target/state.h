/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running target writes down: /run/quiesce/target (state/running.h), and
 * /run/quiesce/tuners, the units that were running and had to make way, one in a line.
 */
#ifndef QUIESCE_BENCHMARK_TARGET_STATE_H
#define QUIESCE_BENCHMARK_TARGET_STATE_H

#include "benchmark-target/choose.h"
#include "benchmark-target/settings.h"

/* Works out the options of all setters, and writes /run/quiesce/target, whole and in place of an
 * old one. Says what is left as it is, and what is wrong. */
int state_write(const struct settings *settings, const struct choice *choice);
/* The file, in /run/quiesce, that says that the target is up for runpinned --quiesce alone
 * (hold.c). Whoever starts it later must not have it stopped by that. */
#define STATE_HELD "held"
/* Removes both. 0 also when there is none. */
int state_remove(void);

/*
 * Adds units to those in /run/quiesce/tuners: one that stands there was running before us, whatever
 * it does now. names ends with NULL.
 */
int state_add_tuners(char *const *names);
/* malloc'd, ended by NULL, also when there is none; for unit_names_free(). -EBADMSG for a file that
 * is not of unit names. */
int state_read_tuners(char ***ret);
int state_remove_tuners(void);

#endif
