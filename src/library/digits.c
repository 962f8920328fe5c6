// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "library/digits.h"

int digits_read(const char **text, unsigned base, uint64_t max, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = *text;
	uint64_t value = 0;

	for (; *p; p++) {
		const char *digit = memchr(digits, *p, base);
		uint64_t d;

		if (!digit)
			break;
		d = (uint64_t)(digit - digits);
		if (value > (max - d) / base)
			return -EINVAL;
		value = value * base + d;
	}
	if (p == *text)
		return -EINVAL;
	*text = p;
	*ret = value;
	return 0;
}
