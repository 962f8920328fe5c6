/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program tells the systemd that runs it, and the journal, beside what it says: datagrams of
 * lines KEY=VALUE, without any library. Where nobody listens, nothing happens. Control characters
 * are told as say() says them.
 */
#ifndef QUIESCE_BASIC_TELL_H
#define QUIESCE_BASIC_TELL_H

/* What has come of this service, for its unit's StatusText (sd_notify(3), STATUS=; the unit needs a
 * NotifyAccess=). systemd has it before it learns of this process's end, and keeps it until the
 * unit starts again. Nothing for NULL. */
void tell_status(const char *text);

/* A line for the journal that `systemctl status` and `journalctl -u` show among those of another
 * unit. They look for OBJECT_SYSTEMD_UNIT= in what root has sent (add_matches_for_unit() in
 * src/shared/logs-show.c of systemd 252 and 257). */
void tell_unit(const char *unit, const char *text);

#endif
