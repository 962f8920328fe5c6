/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc/cpuinfo says of a CPU, on the architectures that say it in their own words each
 * (c_show() or show_cpuinfo() in arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c,
 * arch/powerpc/kernel/setup-common.c, arch/s390/kernel/processor.c, arch/riscv/kernel/cpu.c,
 * arch/loongarch/kernel/proc.c).
 *
 * Reading the file is slow on a big machine, and before Linux 5.18 it interrupts every CPU of an
 * x86 to ask for its frequency: once before and once after a series of runs, not for each.
 */
#ifndef QUIESCE_MACHINE_CPUINFO_H
#define QUIESCE_MACHINE_CPUINFO_H

#include <stdbool.h>
#include <stddef.h>

struct cpuinfo {
	/*
	 * The model of that CPU, or NULL:
	 *	x86	"Intel(R) Xeon(R) Processor"
	 *	Arm	"Cortex-A725 r0p1", "implementer 0x48 part 0xd01 r1p0"
	 *	power	"POWER9, altivec supported"
	 *	s390	"IBM/S390"
	 *	RISC-V	"sifive,u74-mc"
	 */
	char *model;
	/* The machine around it, or NULL: power "PowerNV 9006-22P", s390 "2817". */
	char *machine;
	/* x86: the CPU says that a hypervisor is below it. */
	bool hypervisor;
};

/* The whole file, malloc'd. */
int cpuinfo_read(char **ret_text);

/* What the text says of `cpu`, or of the first CPU that it tells anything of where that one is not
 * in it. -ENOMEM. */
int cpuinfo_parse(const char *text, int cpu, struct cpuinfo *ret);
void cpuinfo_clear(struct cpuinfo *cpuinfo);

/*
 * Runs through the CPUs that have a frequency, in MHz ("cpu MHz" of x86, "clock" of power): true
 * and the next one, false at the end. *cursor is `text` at first.
 */
bool cpuinfo_next_mhz(const char **cursor, int *ret_cpu, double *ret_mhz);

#endif
