/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc/cpuinfo says about a CPU. Each architecture has its own format (c_show() or
 * show_cpuinfo() in arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c,
 * arch/powerpc/kernel/setup-common.c, arch/s390/kernel/processor.c, arch/riscv/kernel/cpu.c,
 * arch/loongarch/kernel/proc.c).
 *
 * Reading the file is slow on a big machine, and on x86 before Linux 5.18 it interrupts every CPU
 * to ask for its frequency: read it once before and once after a series of runs, not for each run.
 */
#ifndef QUIESCE_BASE_MACHINE_CPUINFO_H
#define QUIESCE_BASE_MACHINE_CPUINFO_H

#include <stdbool.h>
#include <stddef.h>

struct cpuinfo {
	/*
	 * The model of the CPU, or NULL:
	 *	x86	"Intel(R) Xeon(R) Processor"
	 *	Arm	"Cortex-A725 r0p1", "implementer 0x48 part 0xd01 r1p0"
	 *	power	"POWER9, altivec supported"
	 *	s390	"IBM/S390"
	 *	RISC-V	"sifive,u74-mc"
	 */
	char *model;
	/* The model of the machine, or NULL: power "PowerNV 9006-22P", s390 "2817". */
	char *machine;
	/* x86: the CPU's flag that it runs under a hypervisor. */
	bool hypervisor;
};

/* The whole file, malloc'd. */
int cpuinfo_read(char **ret_text);

/* What the text says about `cpu`, or, where `cpu` is not in it, about the first CPU in the text.
 * -ENOMEM. */
int cpuinfo_parse(const char *text, int cpu, struct cpuinfo *ret);
void cpuinfo_clear(struct cpuinfo *cpuinfo);

/*
 * Iterates over the CPUs that have a frequency, in MHz ("cpu MHz" of x86, "clock" of power):
 * returns true with the next CPU, false at the end. *cursor begins as `text`.
 */
bool cpuinfo_next_mhz(const char **cursor, int *ret_cpu, double *ret_mhz);

#endif
