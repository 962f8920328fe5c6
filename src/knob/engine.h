/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turning the knobs of a plan, and turning them back.
 */
#ifndef QUIESCE_KNOB_ENGINE_H
#define QUIESCE_KNOB_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "knob/journal.h"
#include "knob/knob.h"

struct engine {
	const char *tool;
	const struct knob_backend *backends; /* NULL: files only */
	/* Where a knob stands inside of its group, lower ones first; a plan must be in that order.
	 * NULL: as they were added. It is needed where settings of several applies come together
	 * in one journal, and the kernel does not accept every order. */
	unsigned (*rank)(const char *path);
	/* Whether a refusal (positive errno) to put this knob back is how the kernel is, and no
	 * failure: it is said, and the journal forgets the knob. NULL: never. */
	bool (*may_stay)(const char *path, int error);
	/* The last question of an apply: whether the machine now is as it was meant to be. A
	 * negative errno turns back what this apply has turned; saying why is the caller's own.
	 * May add notes to the plan's knobs. NULL: not asked. */
	int (*verify)(struct knob_plan *plan, void *context);
	void *context; /* of verify() */
	bool strict;   /* a knob that may be refused, must not be */
	bool force;    /* restore over what somebody else changed */
	bool locked;   /* the caller holds engine_lock(): the engine does not take it itself */
};

/* Why something failed as a whole, for a person; the knob that did it, if one did. */
struct engine_failure {
	char *what; /* malloc'd; NULL when there is nothing to add to the errno */
	char *path; /* malloc'd */
};
void engine_failure_clear(struct engine_failure *failure);

/*
 * The lock of the whole machine: taken before a plan is made, so that the plan is not of what
 * another setter is about to change. A descriptor, to be closed; -EAGAIN when another tool holds it
 * for long.
 */
int engine_lock(struct engine_failure *failure);

/*
 * Reads every knob of the plan, and from the journal what it was: fills now, original, word, error
 * and note. Without write access to anything. -EBADMSG for a damaged journal.
 */
int engine_inspect(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure);

/*
 * Turns the knobs. In this order: lock, read everything, write the journal, turn the knobs, read
 * them back, verify(), write down what they have become. A knob that is as wanted is not written.
 * When one fails that must not, all that was turned in this call is turned back, and the errno of
 * the first is returned. Settings of an earlier call, which the plan may not mention, stay, and so
 * does what the journal says was there before them.
 */
int engine_apply(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure);

/* What restoring did with an entry of the journal. */
enum restore_word {
	RESTORE_DONE,	   /* written back */
	RESTORE_UNCHANGED, /* it was as before already, or we never changed it */
	RESTORE_FOREIGN,   /* somebody else changed it since: left as it is */
	RESTORE_GONE,	   /* there is no such knob any more */
	RESTORE_REFUSED,   /* may_stay() */
	RESTORE_FAILED,
};

struct restore_row {
	enum knob_kind kind;
	char *path;
	char *name;
	char *original;
	char *now; /* NULL when it cannot be read */
	enum restore_word word;
	int error;
};

struct restore_rows {
	struct restore_row *items;
	size_t n;
};
void restore_rows_clear(struct restore_rows *rows);
const char *restore_word_name(enum restore_word word);

/*
 * Puts back what the journal says, groups backwards. Values that somebody else changed since stay,
 * unless forced; what is left over (foreign or failed) stays in the journal, else the journal goes.
 * 0 also when there is none. An errno when the journal cannot be used, or for the first knob that
 * failed; the others are restored all the same.
 */
int engine_restore(
	const struct engine *engine, struct restore_rows *ret, struct engine_failure *failure);

#endif
