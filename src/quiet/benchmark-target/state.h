/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of the running target: /run/quiesce/target (base/where/running.h), and
 * /run/quiesce/tuners, the units that the target has stopped and will start again, one in each
 * line.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_STATE_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_STATE_H

#include "base/text.h"
#include "quiet/benchmark-target/choose.h"
#include "quiet/benchmark-target/settings.h"

/* Makes the options of all setters, and writes /run/quiesce/target, atomically in place of an old
 * file. Says which setters are not to run, and what is wrong. */
int state_write(const struct settings *settings, const struct choice *choice);
/* This file in /run/quiesce says that the target was started by runpinned --quiesce (hold.c), which
 * then also stops it. It must not stop a target that somebody else has started. */
#define STATE_HELD "held"
/* Removes /run/quiesce/target and the file above. 0 also when they do not exist. */
int state_remove(void);

/*
 * Adds units to those in /run/quiesce/tuners. names ends with NULL. A unit that is already in the
 * file stays there, even if it does not run now: it was running before the target.
 */
int state_add_tuners(char *const *names);
/* malloc'd and ended by NULL, even without any name; free it by systemd_names_free(). -EBADMSG for
 * a file with anything but names of units. */
int state_read_tuners(char ***ret);
/* Replaces the file by one of these lines, each the name of a unit; without any, there is no file.
 */
int state_replace_tuners(const struct text *lines);

#endif
