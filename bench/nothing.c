// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Less than an empty main(): no C library, whose start-up asks the CPU what it is (cpuid) some
 * dozens of times. In a virtual machine each of these traps into the hypervisor, and an empty
 * program is then hardly anything else: beside that, what a tool adds no longer shows.
 */
void _start(void);

__attribute__((noreturn)) void _start(void)
{
#if defined(__x86_64__)
	/* exit(0) */
	__asm__ volatile("xor %%edi, %%edi\n\t"
			 "mov $60, %%eax\n\t"
			 "syscall" ::
				 : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x0, #0\n\t"
			 "mov x8, #93\n\t"
			 "svc #0" ::
				 : "memory");
#else
#error "no exit(2) for this architecture: meson.build should not have asked"
#endif
	__builtin_unreachable();
}
