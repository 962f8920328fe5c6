// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stddef.h>

#include "base/machine/schedstat.h"
#include "base/macro.h"
#include "base/parse.h"

int schedstat_parse(const char *text, struct schedstat *ret)
{
	uint64_t numbers[3];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		int r = parse_next_u64(&text, &numbers[i]);

		if (r < 0)
			return r;
		if (numbers[i] > INT64_MAX)
			return -ERANGE;
	}
	if (numbers[2] == 0)
		return -ENODATA;
	*ret = (struct schedstat){
		.ran_ns = (int64_t)numbers[0],
		.waited_ns = (int64_t)numbers[1],
	};
	return 0;
}
