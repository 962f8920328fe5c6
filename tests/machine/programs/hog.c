// SPDX-License-Identifier: GPL-2.0-or-later
/* A library to preload: makes runpinned, and nobody else, hold TEST_HOG_MIB of memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *volatile memory; /* held, not leaked */

__attribute__((constructor)) static void hog(void)
{
	const char *text = getenv("TEST_HOG_MIB");
	size_t size;

	if (!text || strcmp(program_invocation_short_name, "runpinned") != 0)
		return;
	size = strtoul(text, NULL, 10) << 20;
	memory = malloc(size);
	if (!memory) {
		fprintf(stderr, "hog: no memory\n");
		abort();
	}
	/* Touched through a volatile pointer, or the compiler sees that nobody reads it. */
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)memory)[i] = 1;
}
