/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A systemd service as a knob: "running" or "stopped". For an irqbalance without a socket
 * (irqbalance.h), which has to be stopped until restore.
 */
#ifndef QUIESCE_QUIET_IRQ_STEER_SERVICE_H
#define QUIESCE_QUIET_IRQ_STEER_SERVICE_H

#include <stdbool.h>

#include "base/machine/cpumask.h"

/* The scheme of the knob's path: "service:irqbalance.service". */
#define SERVICE_SCHEME "service"
#define SERVICE_IRQBALANCE "irqbalance.service"

/* "running" also while the service starts or reloads, "stopped" in all other states. -ENOENT where
 * there is no systemd or no such service; other errors as of systemd_read_state(). */
int service_read(const char *unit, char **ret);
/* Makes the service "running" or "stopped", and waits until it is. Errors as of systemd_start(). */
int service_write(const char *unit, const char *text);
bool service_is_ours(const char *unit);

/*
 * The CPUs that irqbalance bans from its start, as a knob: "dropin:irqbalance.service". What it was
 * told over its socket ends with its process, which an upgrade or needrestart(1) ends. The
 * variables of its environment, in a drop-in that lasts until restore, count for each process of
 * the service. It is read by dropin_read().
 */
/* The text of the drop-in that bans these CPUs, malloc'd; NULL when out of memory. */
char *service_format_ban(const struct cpumask *banned);
/* As dropin_write(). When the drop-in is removed, and the service was started while it was there,
 * the service is restarted, because it has its variables until then. */
int service_write_ban(const char *unit, const char *text);

#endif
