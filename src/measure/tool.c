// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tool.h"
#include "measure/expand.h"

const struct tool tool = {
	.parse = options_parse,
	.expand = expand_programs,
};
