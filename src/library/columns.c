// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stddef.h>
#include <string.h>

#include "library/columns.h"
#include "library/digits.h"

enum {
	CPU_MAX = 16384,
};

/* Parses the next number of a line; 0 where there is none. */
static int next_number(const char **p, uint64_t *ret)
{
	*p += strspn(*p, " ");
	return digits_read(p, 10, INT64_MAX, ret) == 0;
}

int64_t columns_sum(const char *table, int cpu)
{
	const char *p = table;
	size_t column = 0, wanted = SIZE_MAX;
	uint64_t sum = 0, number;

	for (;;) {
		p += strspn(p, " ");
		if (strncmp(p, "CPU", 3) != 0)
			break;
		p += 3;
		if (digits_read(&p, 10, CPU_MAX, &number) < 0)
			return -1;
		if (number == (uint64_t)cpu)
			wanted = column;
		column++;
	}
	if (wanted == SIZE_MAX)
		return -1;
	for (p = strchr(p, '\n'); p; p = strchr(p, '\n')) {
		const char *cell = strpbrk(++p, ":\n");
		size_t i;

		if (!cell || *cell == '\n')
			continue;
		cell++;
		for (i = 0; i <= wanted && next_number(&cell, &number); i++)
			;
		if (i == wanted + 1)
			sum += number;
		if (sum > INT64_MAX)
			return -1;
	}
	return (int64_t)sum;
}
