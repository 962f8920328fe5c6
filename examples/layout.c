// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose speed depends on where its stack lies. The stack begins at a multiple of 16
 * bytes, and at which one depends on the size of the environment and on chance (ASLR). In one of
 * four places the number below lies on two cache lines, and each addition takes longer.
 */
#include <stdint.h>

int main(void)
{
	_Alignas(16) char place[32] = { 0 };
	/* Where place is 48 behind the begin of a line of 64 bytes, four of its bytes are on the
	 * next. */
	volatile uint64_t *number = (void *)(place + 12);

	for (int i = 0; i < 3000000; i++)
		*number += 1;
	return *number != 3000000;
}
