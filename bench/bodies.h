/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the libraries measure in bench/sampler: the same instructions for all, in C and in C++. */
#ifndef QUIESCE_BENCH_BODIES_H
#define QUIESCE_BENCH_BODIES_H

#include <stdint.h>

/* Nothing, which the compiler cannot leave out. */
static inline void body_empty(void)
{
	__asm__ volatile("" : : : "memory");
}

/* About 10 ns: multiplications that wait for each other, 3 cycles each on most CPUs. What is around
 * them, the loop above all, is done meanwhile. */
static inline uint64_t body_chain(uint64_t x)
{
#if defined(__x86_64__)
	__asm__ volatile("imul $3, %0, %0\n\timul $5, %0, %0\n\timul $7, %0, %0\n\t"
			 "imul $3, %0, %0\n\timul $5, %0, %0\n\timul $7, %0, %0\n\t"
			 "imul $3, %0, %0\n\timul $5, %0, %0\n\timul $7, %0, %0\n\t"
			 "imul $9, %0, %0"
			 : "+r"(x)
			 :
			 : "cc");
#else
	for (int i = 0; i < 10; i++) {
		x *= 3;
		__asm__ volatile("" : "+r"(x));
	}
#endif
	return x;
}

#endif
