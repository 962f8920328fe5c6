// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "base/say.h"
#include "base/version.h"
#include "config.h"

int version_print(const char *tool)
{
	int r = print(stdout, "%s (quiesce) %s\n", tool, QUIESCE_VERSION);

	return r < 0 || !*BUILT_WITHOUT ? r : print(stdout, "built without %s\n", BUILT_WITHOUT);
}
