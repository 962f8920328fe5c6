// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knob/engine.h"

enum {
	LOCK_SECONDS = 30,
};

void engine_failure_clear(struct engine_failure *failure)
{
	free(failure->what);
	free(failure->path);
	*failure = (struct engine_failure){ 0 };
}

void engine_failure_set(struct engine_failure *failure, const char *path, const char *format, ...)
{
	va_list ap;

	if (failure->what)
		return;
	va_start(ap, format);
	if (vasprintf(&failure->what, format, ap) < 0)
		failure->what = NULL;
	va_end(ap);
	failure->path = path ? strdup(path) : NULL;
}

int engine_lock(struct engine_failure *failure)
{
	int fd = journal_lock(LOCK_SECONDS);

	if (fd == -EAGAIN)
		engine_failure_set(failure, NULL,
			"another tool of quiesce is at work (it holds " JOURNAL_DIRECTORY "/lock)");
	else if (fd == -EPERM)
		engine_failure_set(
			failure, NULL, JOURNAL_DIRECTORY " is not a directory of root's alone");
	else if (fd < 0)
		engine_failure_set(failure, NULL, "cannot lock " JOURNAL_DIRECTORY "/lock");
	return fd;
}

int engine_load_journal(
	const struct engine *engine, struct journal **ret, struct engine_failure *failure)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = journal_load(engine->tool, ret, &why);
	if (r == -EBADMSG)
		engine_failure_set(failure, NULL,
			"the journal " JOURNAL_DIRECTORY "/%s.journal cannot be used, "
			"and nothing is touched: %s",
			engine->tool, why ? why : "it is damaged");
	else if (r < 0 && r != -ENOENT)
		engine_failure_set(failure, NULL,
			"cannot read the journal " JOURNAL_DIRECTORY "/%s.journal", engine->tool);
	return r;
}

bool engine_may_stay(const struct engine *engine, const char *path, int error)
{
	return error < 0 && engine->may_stay && engine->may_stay(path, -error);
}
