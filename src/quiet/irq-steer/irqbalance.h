/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The banned CPUs of irqbalance as a knob. irqbalance is a daemon that spreads interrupts over all
 * CPUs, except those that are banned. It listens on the socket /run/irqbalance/irqbalancePID.sock:
 * the command "setup" returns the banned CPUs, "settings cpus LIST" sets them (irqbalance 1.9.4:
 * irqbalance.c: sock_handle(), cputree.c: setup_banned_cpus()). The daemon applies a setting in its
 * next pass: by default within ten seconds.
 */
#ifndef QUIESCE_QUIET_IRQ_STEER_IRQBALANCE_H
#define QUIESCE_QUIET_IRQ_STEER_IRQBALANCE_H

#include <stdbool.h>

/* The scheme of the knob's path: "irqbalance:banned". */
#define IRQBALANCE_SCHEME "irqbalance"

/* Functions of struct knob_backend; `name` is "banned", the only one. */
/* The banned CPUs as a hexadecimal mask. -ENOENT when no running irqbalance has a socket. */
int irqbalance_read(const char *name, char **ret);
/*
 * Bans the CPUs of a hexadecimal mask, and waits until irqbalance reports that they are banned;
 * says that it waits. -ETIMEDOUT when that takes longer than two intervals of irqbalance and a
 * little more; irqbalance may still apply the mask later (after several masks, the last one). A
 * mask that equals irqbalance's own default (isolated and nohz_full CPUs) is set as "default", not
 * as a list.
 */
int irqbalance_write(const char *name, const char *mask);
bool irqbalance_is_ours(const char *name);

#endif
