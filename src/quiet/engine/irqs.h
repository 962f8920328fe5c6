/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts of a journal that have other numbers now, and interrupts that no journal knows.
 *
 * Drivers free their interrupts and request them again when the machine is suspended and resumed,
 * when a network card goes down and up, and when they are loaded again; the kernel then gives them
 * any free number (seen with virtio cards on 6.1 and 6.12: pci_alloc_irq_vectors() of their
 * drivers), and the affinity of a new interrupt. The number of before may be another device's. So
 * an interrupt is its number and its action, which a knob of /proc/irq has in its name:
 * "irq 27 (nvme1q3)".
 */
#ifndef QUIESCE_QUIET_ENGINE_IRQS_H
#define QUIESCE_QUIET_ENGINE_IRQS_H

#include "base/machine/irqline.h"
#include "quiet/engine/journal.h"

/*
 * Has the entries follow their interrupts: an entry whose action is at another number now gets that
 * number, and what the apply made of it is not known any more. An entry whose action is nowhere,
 * while its number is another device's, gets a path that does not exist: it is gone. An interrupt
 * that has no action now keeps its number, since its driver may request it again there. Does
 * nothing with entries that have no action in their names. `lines` as for irqlines_read_named():
 * several journals share what is read. Errors of reading the interrupts.
 */
int irqs_follow(struct journal *journal, struct irqlines *lines);
/* The same with these lines, which have their names. */
int irqs_follow_lines(struct journal *journal, const struct irqlines *lines);

/* The default affinity of new interrupts. -ENOENT where that is not known, or an errno as of
 * errno_is_ours(). */
int irqs_read_default(struct cpumask *ret);

/*
 * Gives interrupts that were set up since the journal was begun what the kernel would have given
 * them without the setter: those that no entry is about, and that have the CPUs which a new
 * interrupt got until now: `given`, of the default affinity those that were online. Others have
 * been moved by somebody. To be called when the default affinity has been put back and the CPUs are
 * online again. One that cannot be moved stays. Errors of irqs_read_default().
 */
int irqs_widen_new(struct journal *journal, const struct irqlines *lines,
	const struct cpumask *given, const struct cpumask *online);

/*
 * What a line had if it were not for an earlier apply of the same setter: where it was set up since
 * that, and has just what the default affinity of the earlier apply gives it, this is what the
 * original one gives. malloc'd; NULL for any other line, and for paths of other knobs. `lines` as
 * for irqlines_read_named(). Errors of reading the interrupts.
 */
int irqs_find_original(
	struct journal *earlier, struct irqlines *lines, const char *path, char **ret);

/* Whether an irqbalance of root's is running, with or without a socket: 1, 0, or an error. Only
 * root can move interrupts, whatever others call their programs. */
int irqs_are_balanced(void);

#endif
