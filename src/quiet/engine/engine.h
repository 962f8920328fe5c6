/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What inspecting, applying and restoring (inspect.h, apply.h, restore.h) have in common: how the
 * knobs of a setter are reached, the lock of the machine, and why something failed.
 */
#ifndef QUIESCE_QUIET_ENGINE_ENGINE_H
#define QUIESCE_QUIET_ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/machine/irqline.h"
#include "base/macro.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"

struct engine {
	const char *tool;
	const struct knob_backend *backends; /* NULL: files only */
	/* The group of the knobs of threads in the setter's plans, for a setter that turns what
	 * knob_moves_threads(). */
	unsigned threads_group;
	/* The position of a knob in its group; knobs with a lower number come first, and a plan
	 * must be in that order. NULL: the order in which they were added. It is needed when
	 * settings of several applies are in one journal and the kernel does not accept them in
	 * every order. */
	unsigned (*rank)(const char *path);
	/* Whether it is normal that the kernel refuses to put this knob back with this positive
	 * errno (EAGAIN: the kernel took the value, and shows another one at present). Then it is
	 * not a failure: it is reported, and the journal keeps the entry for another attempt. EBUSY
	 * means that others use the knob by now; then the journal forgets it. NULL: it is never
	 * normal. */
	bool (*may_stay)(const char *path, int error);
	/* Whether a value of this knob is no limit, because it is what the hardware allows at
	 * present. What lifts the limit then is the text `no_limit`: it stays lifted when the
	 * hardware allows more. Returns 1, 0, or a negative errno. NULL: there are no such
	 * knobs. */
	int (*at_limit)(const char *path, const char *value);
	const char *no_limit;
	/* Called before a restore, with its journal that has an entry: turns what has to be so
	 * while the other knobs are put back. What it turns it has added to the journal, and saved,
	 * before. Returns 0, or a negative errno before anything is touched. NULL: there is
	 * nothing. */
	int (*prepare)(struct journal *journal);
	/* Called after a restore if CPUs are or were offline that no setter has taken offline: adds
	 * knobs that lost these CPUs for good, even if they are not in the journal. They are put
	 * back when the CPUs are online again. NULL: there are no such knobs. */
	int (*find_narrowed)(
		const struct cpumask *missing, struct journal *journal, struct knob_plan *plan);
	/* Whether nobody has chosen the present value `now` of a knob of the journal, whose `new`
	 * is known: a daemon changes the knob all the time, also where the setter has told it not
	 * to, or something else that the setter has turned moves it. Then the knob is put back.
	 * Returns 1, 0, or a negative errno. NULL: never. */
	int (*is_moved)(const struct journal_entry *entry, const char *now);
	/* Called at the end of an apply: checks whether the machine is now in the wanted state.
	 * After a negative errno everything that this apply has turned is put back; the caller says
	 * why. May add notes to the plan's knobs. NULL: there is nothing to check. */
	int (*verify)(struct knob_plan *plan, void *context);
	/* Called once after an apply that has turned something: makes another plan where what was
	 * turned shows what the first one could not know. It is a part of the same apply, and takes
	 * the place of the first plan. Returns 1 with the plan and the journal that it was made
	 * with, 0 for none, or a negative errno, after which all is put back. NULL: never. */
	int (*more)(struct knob_plan *ret, struct journal **ret_journal, void *context);
	void *context; /* passed to verify() and more() */
	bool strict;   /* a refusal is a failure even for a knob with may_be_refused */
	bool force;    /* put a knob back even if somebody else has changed it since */
	/* What threads have chosen, while such knobs are turned; set by apply and restore. NULL:
	 * no such knob is turned, or the kernel remembers what threads have chosen. */
	struct pins *pins;
	/* Kernel threads that stay within their cpusets, while such knobs are turned; likewise. */
	struct strays *strays;
	/* The interrupts of the machine, for irqlines_read_named(): all that belongs to one call
	 * shares what is read. */
	struct irqlines *lines;
};

/* Why an operation as a whole failed, as a text for the user, and the knob that caused it, if there
 * is one. */
struct engine_failure {
	char *what;	 /* malloc'd; NULL when there is nothing to add to the errno */
	char *path;	 /* malloc'd */
	bool not_undone; /* some knobs could not be put back after the failure */
};
void engine_failure_clear(struct engine_failure *failure);
/* Sets the failure, unless one is set already: the first one explains the others. `path` may be
 * NULL. */
void engine_failure_set(struct engine_failure *failure, const char *path, const char *format, ...)
	_printf_(3, 4);

/*
 * Takes the lock of the whole machine, which every process that applies or restores holds. It is
 * taken before a plan is made, because otherwise another setter could change the values that the
 * plan is made from. Returns a descriptor, for journal_unlock(); -EAGAIN when another tool holds
 * the lock for long.
 */
int engine_lock(struct engine_failure *failure);

/* Loads the journal like journal_load(), and sets the failure when that fails. -ENOENT is not a
 * failure: it means that there is nothing to put back. */
int engine_load_journal(
	const struct engine *engine, struct journal **ret, struct engine_failure *failure);

/* Sets the failure after a journal could not be written: what is wrong may also be that the id of
 * this boot, which it begins with, cannot be read. `so`: ", so nothing is touched", or "". */
void engine_refuse_journal(
	const struct engine *engine, const char *so, struct engine_failure *failure);

/*
 * Before and after knobs are written of which `any` moves threads. The first one notes where kernel
 * threads are, and where the kernel forgets what threads have chosen, that too: it sets
 * engine->strays and engine->pins, for engine_release_threads(). `journal` may be NULL. The second
 * one waits until all threads are where they are to be. Errors of strays.h and pins.h.
 */
int engine_hold_threads(struct engine *engine, bool any, struct journal *journal);
int engine_settle_threads(const struct engine *engine);
void engine_release_threads(struct engine *engine);
/* As knob_write(). Where the kernel then forgets what threads have chosen, they get it back
 * (pins.h); an error of that is an error of the write. */
int engine_write(const struct engine *engine, const char *path, const char *text);

/* Calls engine->may_stay() for the result (0 or a negative errno) of putting this knob back. */
bool engine_may_stay(const struct engine *engine, const char *path, int error);

/* Whether the value is no limit, as of engine->at_limit(). */
int engine_is_at_limit(const struct engine *engine, const char *path, const char *value);

#endif
