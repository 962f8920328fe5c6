// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "quiet/setter/leftover.h"

enum {
	/* How many threads, and other knobs that disappear all the time, are named one by one. */
	FLEETING_SHOWN = 3,
	MORE_SIZE = 32,
};

/* " and 3 more", behind the first of n; "" where it is the only one. */
static const char *more_text(size_t n, char buf[static MORE_SIZE])
{
	buf[0] = '\0';
	if (n > 1)
		snprintf(buf, MORE_SIZE, " and %zu more", n - 1);
	return buf;
}

size_t leftover_say_gone(const struct setter *setter, const struct knob_plan *plan)
{
	const struct knob *first = NULL;
	char more[MORE_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		const struct knob_backend *backend;
		const char *rest;

		if (knob->word != KNOB_UNAVAILABLE || !knob->before_apply || !knob->wanted)
			continue;
		backend = knob_find_backend(setter->engine.backends, knob->path, &rest);
		if (backend && backend->fleeting)
			continue;
		if (n++ == 0)
			first = knob;
	}
	if (first)
		say("%s (%s)%s: gone since %s began to set it", first->name, first->path,
			more_text(n, more), setter->engine.tool);
	return n;
}

static void say_not_restored(const struct setter *setter, const struct restore_row *row)
{
	const char *why = row->error ? strerror(row->error) : NULL;

	if (setter->explain && setter->explain(row->path, row->error))
		why = setter->explain(row->path, row->error);
	say("%s (%s) could not be put back to %s%s%s", row->name, row->path, row->original,
		why ? ": " : "", why ? why : "");
}

static void say_refused(const struct setter *setter, const struct restore_row *row)
{
	const char *why = setter->explain ? setter->explain(row->path, row->error) : NULL;

	if (why)
		say("%s (%s) stays at %s: %s", row->name, row->path, row->now, why);
	else
		say("%s (%s) stays at %s: the kernel lets nobody set it back to %s", row->name,
			row->path, row->now, row->original);
}

/* Says in one line which knobs do not exist any more: an unplugged device may have had many. */
static void say_gone(const struct restore_rows *rows)
{
	const struct restore_row *first = NULL;
	char more[MORE_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct restore_row *row = &rows->items[i];

		if (row->word != RESTORE_GONE || row->fleeting)
			continue;
		if (n++ == 0)
			first = row;
	}
	if (first)
		say("%s (%s)%s: gone, or all its CPUs are, so that nothing is put back",
			first->name, first->path, more_text(n, more));
}

/* Says in one line which CPUs have to come online for the rest to be put back: an offline CPU may
 * keep many knobs waiting. */
static void say_waiting(const struct setter *setter, const struct restore_rows *rows, bool once)
{
	const struct restore_row *first = NULL;
	char more[MORE_SIZE];
	bool news = !once, many;
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct restore_row *row = &rows->items[i];

		if (row->word != RESTORE_WAITING)
			continue;
		news = news || !row->again;
		if (n++ == 0)
			first = row;
	}
	if (!first || !news || !rows->awaited_cpus)
		return;
	many = strpbrk(rows->awaited_cpus, ",-");
	say("%s (%s)%s: not as before, because CPU%s %s %s offline; `%s restore` puts back the rest when %s "
	    "online again",
		first->name, first->path, more_text(n, more), many ? "s" : "", rows->awaited_cpus,
		many ? "are" : "is", setter->engine.tool, many ? "they are" : "it is");
}

void leftover_say(const struct setter *setter, const struct restore_rows *rows, bool once)
{
	size_t n_fleeting = 0;

	say_gone(rows);
	say_waiting(setter, rows, once);
	for (size_t i = 0; i < rows->n; i++) {
		const struct restore_row *row = &rows->items[i];

		if (once && row->again)
			continue;
		if (row->fleeting &&
			(row->word == RESTORE_FOREIGN || row->word == RESTORE_REFUSED ||
				row->word == RESTORE_FAILED) &&
			n_fleeting++ >= FLEETING_SHOWN)
			continue;
		if (row->word == RESTORE_FOREIGN)
			say("%s (%s) stays at %s: somebody else changed it (--force puts %s back)",
				row->name, row->path, row->now, row->original);
		else if (row->word == RESTORE_REFUSED)
			say_refused(setter, row);
		else if (row->word == RESTORE_FAILED)
			say_not_restored(setter, row);
	}
	if (n_fleeting > FLEETING_SHOWN)
		say("%zu more threads are not as before either (--verbose shows all)",
			n_fleeting - FLEETING_SHOWN);
}
