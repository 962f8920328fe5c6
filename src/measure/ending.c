// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "measure/ending.h"
#include "measure/hooks.h"
#include "measure/session.h"

/* NULL for what was not begun, or has ended. */
static struct {
	const struct options *options;
	const struct place *place;
	struct commands *commands;
	struct stop *stop;
	struct quiesce **quiesce;
	struct host **host;
	const char *file;
} begun;

static void end_runs(void)
{
	/* Memory may have ended between user_enter() and user_leave(). */
	user_leave(begun.options->user);
	hooks_conclude(begun.options, begun.place, begun.commands, begun.stop);
	(void)hooks_clean_up(begun.options, begun.place, begun.commands, begun.stop);
	sessions_free(begun.commands);
	figurepad_remove(begun.commands->figurepad);
	vary_remove(begun.commands->vary);
}

/* exit(3) calls it. Where main() returns, nothing is left to end. */
static void end_begun(void)
{
	if (begun.file)
		unlink(begun.file);
	if (begun.commands)
		end_runs();
	if (begun.host)
		host_free(TAKE_PTR(*begun.host));
	if (begun.quiesce)
		(void)quiesce_end(TAKE_PTR(*begun.quiesce));
}

void ending_prepare(void)
{
	if (atexit(end_begun) != 0)
		xalloc_fail();
}

void ending_set_runs(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop)
{
	begun.options = options;
	begun.place = place;
	begun.commands = commands;
	begun.stop = stop;
}

void ending_clear_runs(void)
{
	ending_set_runs(NULL, NULL, NULL, NULL);
}

void ending_set_file(const char *path)
{
	begun.file = path;
}

void ending_set_host(struct host **host)
{
	begun.host = host;
}

void ending_set_quiesce(struct quiesce **quiesce)
{
	begun.quiesce = quiesce;
}
