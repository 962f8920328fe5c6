/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqbalance, the daemon that spreads interrupts over all CPUs again, spoken to over its own socket
 * /run/irqbalance/irqbalancePID.sock: "setup" answers with the CPUs that it leaves alone, "settings
 * cpus LIST" tells it which (irqbalance 1.9.4: irqbalance.c: sock_handle(), cputree.c:
 * setup_banned_cpus()). It acts on that in its next pass, ten seconds later at most by default.
 */
#ifndef QUIESCE_IRQ_STEER_IRQBALANCE_H
#define QUIESCE_IRQ_STEER_IRQBALANCE_H

#include <stdbool.h>

/* The scheme of the knob's path: "irqbalance:banned". */
#define IRQBALANCE_SCHEME "irqbalance"

/* The banned CPUs as a hexadecimal mask. -ENOENT when no irqbalance is running that can be spoken
 * to. */
int irqbalance_read(const char *rest, char **ret);
/* Bans the CPUs of a hexadecimal mask, and waits until irqbalance says that they are, which is
 * said. -ETIMEDOUT when it does not within two of its intervals and a little more: it may take it
 * later all the same, and the last that was written of several. What it bans by
 * itself (isolated and nohz_full CPUs) is handed back to its own judgement. */
int irqbalance_write(const char *rest, const char *mask);

bool irqbalance_is_ours(const char *rest);

/* Whether one is running at all, with or without a socket. */
bool irqbalance_is_running(void);

#endif
