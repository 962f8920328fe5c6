// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that gives up the CPU once, by which yields.c tells when it ran. */
#include <sched.h>

int main(void)
{
	return sched_yield() < 0;
}
