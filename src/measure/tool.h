/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells the two commands apart that main.c is the story of: runpinned, which runs programs,
 * and runserved, which has services that are put under load. */
#ifndef QUIESCE_MEASURE_TOOL_H
#define QUIESCE_MEASURE_TOOL_H

#include "measure/options.h"
#include "measure/rounds.h"

struct tool {
	/* As options_parse(). */
	int (*parse)(int argc, char *argv[], struct options *ret);
	/* As expand_programs(). */
	int (*expand)(struct options *options);
	/* How its rounds are made; NULL: each program runs once in each. */
	struct rounds *(*get_rounds)(void);
	/* Releases what the three have made; may be NULL. */
	void (*clear)(void);
};

/* That of this command: tool.c, or measure/serve/tool.c. */
extern const struct tool tool;

#endif
