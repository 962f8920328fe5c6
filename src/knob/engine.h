/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What inspecting, applying and restoring (inspect.h, apply.h, restore.h) have in common: how the
 * knobs of a setter are reached, the lock of the machine, and why something failed.
 */
#ifndef QUIESCE_KNOB_ENGINE_H
#define QUIESCE_KNOB_ENGINE_H

#include <stdbool.h>

#include "basic/macro.h"
#include "knob/knob.h"
#include "state/journal.h"

struct engine {
	const char *tool;
	const struct knob_backend *backends; /* NULL: files only */
	/* Where a knob stands inside of its group, lower ones first; a plan must be in that order.
	 * NULL: as they were added. It is needed where settings of several applies come together
	 * in one journal, and the kernel does not accept every order. */
	unsigned (*rank)(const char *path);
	/* Whether a refusal (positive errno) to put this knob back is how the kernel is, and no
	 * failure: it is said, and the journal keeps the entry for another try; EBUSY says that
	 * others use the knob by now, and the journal forgets it. NULL: never. */
	bool (*may_stay)(const char *path, int error);
	/* Called after a restore if CPUs are or were offline that no setter has taken: adds knobs
	 * that lost these CPUs for good, also those that are not in the journal. They are put back
	 * when the CPUs are online again. NULL: there are no such knobs. */
	int (*find_narrowed)(
		const struct cpumask *missing, struct journal *journal, struct knob_plan *plan);
	/* Whether a daemon that the setter has told to stay away moves this knob all the same,
	 * where it may: then what it is now is nobody's choice, and it is put back. 1, 0, or a
	 * negative errno. NULL: never.
	 */
	int (*is_moved)(const char *path);
	/* The last question of an apply: whether the machine now is as it was meant to be. A
	 * negative errno turns back what this apply has turned; saying why is the caller's own.
	 * May add notes to the plan's knobs. NULL: not asked. */
	int (*verify)(struct knob_plan *plan, void *context);
	void *context; /* of verify() */
	bool strict;   /* a knob that may be refused, must not be */
	bool force;    /* restore over what somebody else changed */
};

/* Why something failed as a whole, for a person; the knob that did it, if one did. */
struct engine_failure {
	char *what;	 /* malloc'd; NULL when there is nothing to add to the errno */
	char *path;	 /* malloc'd */
	bool not_undone; /* after the failure not everything could be put back */
};
void engine_failure_clear(struct engine_failure *failure);
/* Unless one is set already: the first is the one that explains the rest. The path may be NULL. */
void engine_failure_set(struct engine_failure *failure, const char *path, const char *format, ...)
	_printf_(3, 4);

/*
 * The lock of the whole machine, which whoever applies or restores holds: taken before a plan is
 * made, so that the plan is not of what another setter is about to change. A descriptor, to be
 * closed; -EAGAIN when another tool holds it for long.
 */
int engine_lock(struct engine_failure *failure);

/* As journal_load(); sets the failure, but for -ENOENT, which is none: there is nothing to put
 * back. */
int engine_load_journal(
	const struct engine *engine, struct journal **ret, struct engine_failure *failure);

/* engine->may_stay() for the answer (0 or a negative errno) to putting that knob back. */
bool engine_may_stay(const struct engine *engine, const char *path, int error);

#endif
