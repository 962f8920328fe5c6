// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

enum {
	FIRST = 64,
	SMALL = 4096,
};

int array_grow(void *array, size_t size, size_t n, size_t *capacity)
{
	size_t wish;
	void *data;

	if (n < *capacity)
		return 0;
	/* Large arrays grow by an eighth: realloc(3) moves the largest ones by mremap(2), without
	 * copying. */
	wish = MAX(n < SMALL ? 2 * n : n + n / 8, (size_t)FIRST);
	/* The pointer may be to elements of any type. */
	memcpy(&data, array, sizeof(data));
	data = reallocarray(data, wish, size);
	if (!data)
		return -ENOMEM;
	memcpy(array, &data, sizeof(data));
	*capacity = wish;
	return 0;
}
