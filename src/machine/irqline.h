/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbered interrupts, and which CPUs they go to: /proc/irq
 * (Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c in 6.1, 6.12, 7.2).
 */
#ifndef QUIESCE_MACHINE_IRQLINE_H
#define QUIESCE_MACHINE_IRQLINE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

struct irqline {
	unsigned number;
	char *action; /* who it belongs to; NULL when unknown */
};

/* All below /proc/irq, by number, and that directory, below which each is looked at. */
struct irqlines {
	struct irqline *items;
	size_t n;
	DIR *directory; /* NULL: as in a struct of zeros, of no lines */
};

/* -ENOENT on a machine, or in a container, without /proc/irq. Actions are NULL. */
int irqlines_read(struct irqlines *ret);
/* The directory alone, for who knows the numbers. */
int irqlines_open(struct irqlines *ret);
/* Fills in the actions from /proc/interrupts, which is dear on a big machine; those that it does
 * not tell stay NULL. -ENOMEM. */
int irqlines_name(struct irqlines *lines);
/* The same from its text. */
int irqlines_take_names(struct irqlines *lines, const char *text);
void irqlines_clear(struct irqlines *lines);

/* Who a line belongs to, malloc'd, from /sys/kernel/irq/N/actions ("nvme0q3", "i801_smbus,xhci");
 * -ENOENT where the kernel does not tell there. */
int irqline_read_action(unsigned number, char **ret);

/* Where a line may go. -ENOENT when it is gone meanwhile; -ENODATA where it is there, and its file
 * is not, or is empty; -EINVAL for what is no list; the errno of reading it. */
int irqline_read_wish(const struct irqlines *lines, unsigned number, struct cpumask *ret);
/* Where it really goes, as far as the chip tells; -ENOENT where it does not: on a machine whose
 * chip has no say of its own the wish is then the truth. Else as above. */
int irqline_read_effective(const struct irqlines *lines, unsigned number, struct cpumask *ret);
/* From 6.12 on the wish of a line that cannot be moved (per CPU, or managed by the kernel) has no
 * mode bit for writing. Before that only an attempt tells, and this says true. */
bool irqline_may_move(const struct irqlines *lines, unsigned number);

#endif
