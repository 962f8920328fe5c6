/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A systemd service as a knob: "running" or "stopped". For an irqbalance without a socket
 * (irqbalance.h), which has to be stopped until restore.
 */
#ifndef QUIESCE_IRQ_STEER_SERVICE_H
#define QUIESCE_IRQ_STEER_SERVICE_H

#include <stdbool.h>

/* The scheme of the knob's path: "service:irqbalance.service". */
#define SERVICE_SCHEME "service"
#define SERVICE_IRQBALANCE "irqbalance.service"

/* "running" also while the service starts or reloads, "stopped" in all other states. -ENOENT where
 * there is no systemd or no such service; other errors as of unit_read_state(). */
int service_read(const char *unit, char **ret);
/* Makes the service "running" or "stopped", and waits until it is. Errors as of unit_start(). */
int service_write(const char *unit, const char *text);
bool service_is_ours(const char *unit);

#endif
