/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Status messages for the systemd that runs this program and lines for the journal, in addition to
 * what the program says: datagrams of lines KEY=VALUE, without a library. Without a listener
 * nothing happens. Control characters are escaped as in say().
 */
#ifndef QUIESCE_BASE_TELL_H
#define QUIESCE_BASE_TELL_H

/* Sets the StatusText of this service's unit (sd_notify(3), STATUS=; the unit needs a
 * NotifyAccess=). systemd receives it before it learns that this process has ended, and keeps it
 * until the unit starts again. NULL sends nothing. */
void tell_status(const char *text);

/* Sends a line to the journal that `systemctl status` and `journalctl -u` show among the lines of
 * another unit. They look for OBJECT_SYSTEMD_UNIT= in messages from root (add_matches_for_unit() in
 * src/shared/logs-show.c of systemd 252 and 257). */
void tell_unit(const char *unit, const char *text);

#endif
