// SPDX-License-Identifier: GPL-2.0-or-later
/* usage: recognize FILE...: prints for each file a line with the name of the harness whose output
 * it is, or "-". Of each, the end is looked at, as runpinned does. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "judge/harness/signs.h"

enum {
	FILE_MAX = 64 * 1024 * 1024,
	KEPT_MAX = 64 * 1024,
};

int main(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++) {
		_cleanup_free_ char *text = NULL, *name = NULL;
		struct output output;
		size_t size, n;

		if (file_read_all(argv[i], FILE_MAX, &text, &size) < 0)
			return 1;
		n = MIN(size, (size_t)KEPT_MAX);
		output = (struct output){ text + size - n, n };
		name = signs_recognize(&output, &output);
		puts(name ? name : "-");
	}
	return 0;
}
