// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"

void xalloc_fail(void)
{
	say("out of memory");
	file_replace_drop_all();
	exit(EXIT_FAILED);
}
