/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbered interrupts and their affinities: /proc/irq
 * (Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c in 6.1, 6.12, 7.2).
 */
#ifndef QUIESCE_BASE_MACHINE_IRQLINE_H
#define QUIESCE_BASE_MACHINE_IRQLINE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/machine/cputable.h"

struct irqline {
	unsigned number;
	char *action; /* the names of the handlers' owners; NULL when unknown */
	/* Set with the names of all lines: whether the line has a row in /proc/interrupts, and
	 * whether this row tells that it belongs to a CPU. */
	bool listed;
	bool per_cpu;
};

/* All lines of /proc/irq, sorted by number, and the open directory. */
struct irqlines {
	struct irqline *items;
	size_t n;
	/* Whether this is Linux before 6.12, whose files do not tell which lines cannot be moved:
	 * 1, 0, or -ENODATA where its release cannot be read. */
	int old_kernel;
	bool named;	/* the actions were filled in: a line without one has none */
	DIR *directory; /* NULL in an all-zero struct, which has no lines */
};

/* -ENOENT on a machine, or in a container, without /proc/irq. The actions are NULL. */
int irqlines_read(struct irqlines *ret);
/* Fills in the actions from /proc/interrupts, which is expensive on a big machine; actions that are
 * not in this file stay NULL. -ENOMEM. */
int irqlines_name(struct irqlines *lines);
/* Both, unless `lines`, which is all zero at first, was read already. Errors of both. */
int irqlines_read_named(struct irqlines *lines);
/* The same from the text of /proc/interrupts. */
int irqlines_take_names(struct irqlines *lines, const char *text);
/* The line of a row of /proc/interrupts; NULL for a row without a number, and for other numbers. */
struct irqline *irqlines_find(const struct irqlines *lines, const struct cputable_row *row);
struct irqline *irqlines_find_number(const struct irqlines *lines, unsigned number);
void irqlines_clear(struct irqlines *lines);
static inline void cleanup_irqlines(struct irqlines *lines)
{
	irqlines_clear(lines);
}

/* The actions of a line, malloc'd, from /sys/kernel/irq/N/actions ("nvme0q3", "i801_smbus,xhci");
 * -ENOENT where the kernel has no such file or it is empty. */
int irqline_read_action(unsigned number, char **ret);

/* Room for a path of /proc/irq. */
#define IRQLINE_PATH_SIZE 64
/* The file with the requested affinity of a line, for those who write it. There is smp_affinity,
 * too; a knob is found in the journals of other setters by its path, so that all of them use this
 * one. */
void irqline_affinity_path(unsigned number, char buf[static IRQLINE_PATH_SIZE]);
/* The number in such a path; -EINVAL for any other one. */
int irqline_parse_path(const char *path, unsigned *ret);
/* The mask that lines get which are set up later; a hexadecimal one alone. */
#define IRQLINE_DEFAULT_AFFINITY "/proc/irq/default_smp_affinity"

/* The requested affinity of a line: smp_affinity_list. -ENOENT when the line has been removed;
 * -ENODATA where the line exists and the file does not, or is empty; -EINVAL for an invalid list;
 * the errno of reading the file. */
int irqline_read_affinity(const struct irqlines *lines, unsigned number, struct cpumask *ret);
/* The effective affinity of a line, as far as the interrupt chip tells; -ENOENT where the chip does
 * not tell: then the requested affinity is in force. Other errors as above. */
int irqline_read_effective(const struct irqlines *lines, unsigned number, struct cpumask *ret);
/* Whether the affinity of a line can be changed. From 6.12 on, smp_affinity_list of a line that
 * cannot be moved (per CPU, or managed by the kernel) is read-only. On older kernels only an
 * attempt tells, and this function returns true. */
bool irqline_is_movable(const struct irqlines *lines, unsigned number);
/* Whether the action names a queue of an NVMe disk or of a virtio disk, whose drivers leave the
 * affinity of their queues to the kernel (drivers/nvme/host/pci.c: nvme_setup_irqs(),
 * drivers/block/virtio_blk.c: init_vq(), drivers/scsi/virtio_scsi.c: virtscsi_init()). Other
 * drivers do so too, but the names of their actions do not show it. */
bool irqline_is_managed_queue(const char *action);
/*
 * Whether a line is a part of the CPUs: their timer, performance counters, messages between them.
 * It cannot be moved, and is no device whose work another CPU could do. Its files look like those
 * of all lines: from 6.12 on they are read-only, as those of managed lines are, and
 * smp_affinity_list has all CPUs. The chip and the action tell:
 * - GIC (arm64): hardware numbers below 32 are messages and private lines of the CPUs, and 1056 to
 *   1119 extended ones (drivers/irqchip/irq-gic-v3.c). Messages have a line, "IPI", but no row in
 *   /proc/interrupts. A counter of performance may be a line of its own per CPU, "arm-pmu"
 *   (drivers/perf/arm_pmu.c);
 * - "xen-percpu" (drivers/xen/events/events_base.c), "XIVE-IPI", "XICS" with "IPI" (POWER),
 *   "RISC-V INTC" and "RISC-V IPI", "CPUINTC" (LoongArch);
 * - actions of timers of a CPU on any chip: arch_timer, riscv-timer, twd, mct_tick.
 * They are in the row of the line, or else in /sys/kernel/irq. Where there is neither, a line
 * without a row that cannot be moved, as far as the kernel tells, is a message of the CPUs. 1, 0,
 * or -ENOMEM.
 */
int irqline_belongs_to_cpu(const struct irqlines *lines, const struct irqline *line);
/*
 * 1 when it is known, without an attempt, that the affinity of a line cannot be changed, else 0. On
 * an old kernel irqline_is_managed_queue() decides. -ENODATA where it cannot be decided: no line
 * has a known action, or the line is such a queue and it is not known whether the kernel is old.
 */
int irqline_is_fixed(const struct irqlines *lines, const struct irqline *line);

#endif
