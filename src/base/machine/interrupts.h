/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which interrupts hit a set of CPUs between two readings, from /proc/interrupts
 * (fs/proc/interrupts.c, kernel/irq/proc.c, and the rows of each architecture:
 * arch/x86/kernel/irq.c, arch/arm64/kernel/smp.c, arch/powerpc/kernel/irq.c,
 * arch/s390/kernel/irq.c, arch/riscv/kernel/smp.c).
 *
 * A reading is expensive on a big machine, because the kernel renders every line for every CPU:
 * read the file outside of the measurement. In the steady state a reading allocates nothing and
 * compares each line with the line that was in the same position before; lines may appear and
 * disappear between two readings.
 */
#ifndef QUIESCE_BASE_MACHINE_INTERRUPTS_H
#define QUIESCE_BASE_MACHINE_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

enum interrupt_class {
	/* Devices: the numbered lines, and s390's kinds of input and output, which have no
	 * numbers. */
	INTERRUPT_DEVICE,
	/* Timers of the CPU: LOC, powerpc's BCT, Hyper-V's HVS, s390's CLK and TMR, and numbered
	 * lines whose action is a timer (arch_timer, riscv-timer, hpet2, twd, timer). */
	INTERRUPT_TIMER,
	/* Sent by another CPU: RES, CAL, TLB, IPI0 and on, powerpc's DBL and IPI, s390's EXC and
	 * EMS. */
	INTERRUPT_IPI,
	/* TRM, the thermal event interrupt of x86, and powerpc's TAU. (THR is not thermal: it is
	 * the threshold of corrected machine checks.) */
	INTERRUPT_THERMAL,
	/* NMI, PMI, MCE, MCP, IWI (irq_work, raised by the CPU itself) and any other. */
	INTERRUPT_OTHER,
};

/*
 * The class of a row of /proc/interrupts, from its label (without the colon, at least one byte) and
 * the text after its columns. s390's sums of other rows are INTERRUPT_OTHER.
 */
enum interrupt_class interrupts_classify(
	const char *label, size_t label_length, const char *tail, size_t tail_length);

struct interrupts;

/* A line that fired between two readings. */
struct interrupt_delta {
	/* A number of the line, counted from 0 without gaps. During the life of the reader it
	 * always means the same name. */
	uint32_t line;
	/* "38: virtio2-input.0", "LOC: Local timer interrupts": the kernel's label and the text
	 * after the columns. Valid as long as the reader. */
	const char *name;
	enum interrupt_class class;
	uint64_t delta; /* at least 1 */
};

#define INTERRUPTS_PATH "/proc/interrupts"

/* A reader for the CPUs of mask, which is copied. It has no reading yet. -ENOMEM. */
int interrupts_new(const struct cpumask *mask, struct interrupts **ret);
void interrupts_free(struct interrupts *interrupts);

DEFINE_CLEANUP(interrupts, interrupts_free);

/*
 * Takes a reading, the text of /proc/interrupts, and keeps the previous one; older ones are
 * dropped. The text has `length` bytes and need not be NUL-terminated. -ENODEV when none of the
 * mask's CPUs is online, -EBADMSG when the text has no header, -ENOMEM. After a failure the last
 * two readings are either unchanged or no longer comparable.
 */
int interrupts_read_text(struct interrupts *interrupts, const char *text, size_t length);
/* Takes a reading whose text is known to equal the previous one. */
int interrupts_repeat(struct interrupts *interrupts);

/*
 * Whether the last two readings can be compared: there are two, and none of the mask's CPUs went
 * online or offline in between (an offline CPU has no column, so its past counts are missing).
 */
bool interrupts_comparable(const struct interrupts *interrupts);

/*
 * The lines that fired between the last two readings, one per call, until it returns false:
 *
 *	size_t cursor = 0;
 *	struct interrupt_delta delta;
 *
 *	while (interrupts_diff(interrupts, &cursor, &delta))
 *		...
 *
 * Returns nothing when the readings are not comparable. The kernel's counters are unsigned int and
 * wrap; one wrap between the readings is handled. A line that is new counts from 0. A difference of
 * 2^31 or more means that the line was removed and set up again under the same number: then the
 * difference is the new line's count. Lines that count for the whole machine (ERR, MIS) and s390's
 * sums of other lines (EXT, I/O, AIO) are left out.
 */
bool interrupts_diff(
	const struct interrupts *interrupts, size_t *cursor, struct interrupt_delta *ret);

/*
 * Finds the CPU of the mask that took most interrupts between two texts of /proc/interrupts, timers
 * left out; the lowest CPU if several took as many. -EBADMSG when a text has no header, -ENODEV
 * when none of the CPUs was online, -ESTALE when other CPUs of the mask were online at the second
 * text, -ENOMEM.
 */
int interrupts_find_busiest(
	const struct cpumask *mask, const char *before, const char *after, int *ret_cpu);

/*
 * Whether the total of /proc/stat changes with each interrupt that a per-CPU line counts
 * (fs/proc/stat.c: show_stat()). Arm64 counts all interrupts in one place. On x86 the total lacks
 * some (arch/x86/kernel/irq.c: arch_irq_stat_cpu()): TLB shootdowns, which come with a function
 * call, and posted interrupts of guests and deferred errors, which hardly ever come alone; none of
 * them is used as evidence of a disturbance. Other architectures have not been checked.
 */
bool interrupts_have_total(void);

#endif
