/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A service of systemd as a knob: "running" or "stopped". For an irqbalance that cannot be spoken
 * to (see irqbalance.h) and therefore has to be gone for a while.
 */
#ifndef QUIESCE_IRQ_STEER_SERVICE_H
#define QUIESCE_IRQ_STEER_SERVICE_H

#include <stdbool.h>

/* The scheme of the knob's path: "service:irqbalance.service". */
#define SERVICE_SCHEME "service"
#define SERVICE_IRQBALANCE "irqbalance.service"

/* "running" also while it starts or reloads, "stopped" in all other states. -ENOENT where there is
 * no systemd, or it has no such service; other errors of asking it. */
int service_read(const char *unit, char **ret);
/* "running" or "stopped", and waits until it is. Errors as of unit_start(). */
int service_write(const char *unit, const char *text);
bool service_is_ours(const char *unit);

#endif
