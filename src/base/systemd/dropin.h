/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a unit that last until the next boot, in a drop-in file of ours in
 * /run/systemd/system. It is a file, and not SetUnitProperties(), because RevertUnitFiles(), which
 * would undo that, also removes the files of an administrator in /etc for this unit.
 *
 * The text of a drop-in is one line: its settings, without blanks in them, and with blanks between
 * them. A setting whose name has an underscore is a variable of a service's environment, and comes
 * after the others.
 */
#ifndef QUIESCE_BASE_SYSTEMD_DROPIN_H
#define QUIESCE_BASE_SYSTEMD_DROPIN_H

#include <stdint.h>

#define DROPIN_SCHEME "dropin" /* of knobs: "dropin:benchmark.slice" */
#define DROPIN_NONE "none"     /* there is no such file */
/* systemd has not read the present file, because a writer was killed. Any write repairs that. */
#define DROPIN_UNFINISHED "unfinished"

/* *ret: the settings of the unit's drop-in or one of these words, malloc'd. */
int dropin_read(const char *unit, char **ret);
/* Makes or removes the file, and has systemd read it. `tool`: who does, for a reader of the file.
 */
int dropin_write(const char *unit, const char *tool, const char *text);
/* When the file was written: CLOCK_REALTIME, nanoseconds. -ENOENT without one. */
int dropin_read_time(const char *unit, int64_t *ret);

#endif
