// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/where/bootid.h"
#include "base/where/cpuholder.h"
#include "quiet/engine/engine.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/pins.h"
#include "quiet/engine/strays.h"
#include "quiet/engine/thread.h"

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

static void say_holder(struct engine_failure *failure)
{
	const char *directory = journal_directory();
	_cleanup_free_ char *lock = NULL;
	struct cpuholder holder;

	if (text_format(&lock, "%s/lock", directory) == 0 &&
		cpuholder_find_file(lock, &holder) == 0)
		engine_failure_set(failure, NULL,
			"another tool of quiesce is at work: %s (process %d) holds %s",
			*holder.comm ? holder.comm : "one that has no name", (int)holder.pid, lock);
	else
		engine_failure_set(failure, NULL,
			"another tool of quiesce is at work (it holds %s/lock)", directory);
}

int engine_lock(struct engine_failure *failure)
{
	int fd = journal_lock(LOCK_SECONDS);

	if (fd == -EAGAIN)
		say_holder(failure);
	else if (fd == -EPERM)
		engine_failure_set(failure, NULL, "%s is not a directory of %s alone",
			journal_directory(), journal_is_own() ? "yours" : "root's");
	else if (fd < 0)
		engine_failure_set(failure, NULL, "cannot lock %s/lock", journal_directory());
	return fd;
}

/* The first path of a journal that this setter never writes; NULL for none. */
static const char *find_strange(const struct engine *engine, const struct journal *journal)
{
	for (size_t i = 0; i < journal->n; i++) {
		const char *path = journal->entries[i].path, *rest;
		const struct knob_backend *backend;

		if (path[0] == '/')
			continue;
		backend = knob_find_backend(engine->backends, path, &rest);
		if (!backend || (backend->is_ours && !backend->is_ours(rest)))
			return path;
	}
	return NULL;
}

/* Sets the failure, and returns true, if it is the id of this boot that cannot be read. */
static bool refuse_bootid(const char *so, struct engine_failure *failure)
{
	char boot_id[BOOTID_SIZE];

	if (bootid_read(boot_id) == 0)
		return false;
	engine_failure_set(failure, NULL, "cannot read which boot this is (" BOOTID_FILE ")%s", so);
	return true;
}

void engine_refuse_journal(
	const struct engine *engine, const char *so, struct engine_failure *failure)
{
	if (!refuse_bootid(so, failure))
		engine_failure_set(failure, NULL, "cannot write the journal %s/%s.journal%s",
			journal_directory(), engine->tool, so);
}

int engine_load_journal(
	const struct engine *engine, struct journal **ret, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	const char *strange;
	int r;

	r = journal_load(engine->tool, &journal, &why);
	if (r == 0)
		r = irqs_follow(journal, engine->lines);
	strange = r == 0 ? find_strange(engine, journal) : NULL;
	if (strange)
		r = text_refuse(&why, -EBADMSG, "%s never writes %.200s", engine->tool, strange);
	if (r == 0)
		*ret = TAKE_PTR(journal);
	if (r == -EBADMSG)
		engine_failure_set(failure, NULL,
			"the journal %s/%s.journal cannot be used, and nothing is touched: %s "
			"(a reboot sets everything back, and removes it)",
			journal_directory(), engine->tool, why ? why : "it is damaged");
	else if (r < 0 && r != -ENOENT && !refuse_bootid("", failure))
		engine_failure_set(failure, NULL, "cannot read the journal %s/%s.journal",
			journal_directory(), engine->tool);
	return r;
}

int engine_hold_threads(struct engine *engine, bool any, struct journal *journal)
{
	int r;

	if (!any || journal_is_own())
		return 0;
	r = strays_note(&engine->strays);
	return r == 0 && thread_is_forgotten() > 0
		? pins_begin(journal, engine->force, &engine->pins)
		: r;
}

int engine_settle_threads(const struct engine *engine)
{
	int r = engine->pins ? pins_settle(engine->pins) : 0;

	return r == 0 && engine->strays ? strays_call_back(engine->strays) : r;
}

void engine_release_threads(struct engine *engine)
{
	strays_free(TAKE_PTR(engine->strays));
	pins_free(TAKE_PTR(engine->pins));
}

int engine_write(const struct engine *engine, const char *path, const char *text)
{
	struct pins *pins = engine->pins;
	bool moves = pins && knob_moves_threads(engine->backends, path);
	int r, kept = 0;

	if (moves) {
		r = pins_begin_change(pins);
		if (r < 0)
			return r;
	}
	r = knob_write(engine->backends, path, text);
	if (moves)
		kept = pins_end_change(pins);
	else if (pins)
		pins_forget(pins, path);
	return r < 0 ? r : kept;
}

bool engine_may_stay(const struct engine *engine, const char *path, int error)
{
	return error < 0 && engine->may_stay && engine->may_stay(path, -error);
}

int engine_is_at_limit(const struct engine *engine, const char *path, const char *value)
{
	return engine->at_limit ? engine->at_limit(path, value) : 0;
}
