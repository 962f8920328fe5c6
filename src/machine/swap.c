// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "basic/file.h"
#include "basic/parse.h"
#include "machine/swap.h"

int swap_read(uint64_t *ret_size, uint64_t *ret_used)
{
	_cleanup_free_ char *text = NULL;
	char *line, *save = NULL;
	uint64_t size = 0, used = 0;
	int r;

	r = file_read_all(AT_FDCWD, "/proc/swaps", 1024 * 1024, &text, NULL);
	if (r < 0)
		return r;
	/* A heading, then file, type, size and used in KiB, priority. */
	line = strtok_r(text, "\n", &save);
	while (line && (line = strtok_r(NULL, "\n", &save))) {
		char *field_save = NULL, *field = strtok_r(line, " \t", &field_save);
		uint64_t values[2];

		/* Blanks in a name are written as \040. */
		field = field ? strtok_r(NULL, " \t", &field_save) : NULL;
		for (int i = 0; field && i < 2; i++) {
			field = strtok_r(NULL, " \t", &field_save);
			if (field && parse_u64(field, 0, UINT64_MAX, &values[i]) < 0)
				field = NULL;
		}
		if (!field)
			continue;
		size += values[0];
		used += values[1];
		r = 1;
	}
	*ret_size = size;
	*ret_used = used;
	return r;
}
