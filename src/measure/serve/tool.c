// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tool.h"
#include "measure/expand.h"
#include "measure/serve/asked.h"
#include "measure/serve/sitting.h"

static struct asked asked;
static struct sittings sittings;
static size_t n_services;

static int parse(int argc, char *argv[], struct options *ret)
{
	return asked_parse(argc, argv, ret, &asked);
}

static int expand(struct options *options)
{
	int r = expand_programs(options);

	if (r == 0) {
		n_services = options->n_commands;
		asked_find_address(&asked, options);
	}
	return r;
}

static struct rounds *get_rounds(void)
{
	sittings_begin(&sittings, &asked, n_services);
	return &sittings.rounds;
}

static void clear(void)
{
	sittings_clear(&sittings);
}

const struct tool tool = {
	.parse = parse,
	.expand = expand,
	.get_rounds = get_rounds,
	.clear = clear,
};
