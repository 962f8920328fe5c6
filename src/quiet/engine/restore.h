/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restoring: putting back the values that a journal has saved.
 */
#ifndef QUIESCE_QUIET_ENGINE_RESTORE_H
#define QUIESCE_QUIET_ENGINE_RESTORE_H

#include <stdbool.h>
#include <stddef.h>

#include "quiet/engine/engine.h"

/* The result of restoring for an entry of the journal. */
enum restore_word {
	RESTORE_DONE,	   /* the old value was written */
	RESTORE_UNCHANGED, /* the knob had its old value already, or was never changed */
	RESTORE_FOREIGN,   /* somebody else has changed the knob since: it is not touched */
	/* Another setter has turned the knob since, and will put it back (layers.h). */
	RESTORE_HANDED,
	/* The knob does not exist any more, or none of the CPUs in its old value does. */
	RESTORE_GONE,
	RESTORE_REFUSED, /* the kernel refused, which engine->may_stay() says is normal */
	RESTORE_WAITING, /* the knob needs a CPU that is offline; everything else was put back */
	RESTORE_FAILED,
};

struct restore_row {
	enum knob_kind kind;
	char *path;
	char *name;
	char *original;
	char *now; /* NULL when it cannot be read */
	enum restore_word word;
	/* The result was the same (FOREIGN, REFUSED or WAITING) in an earlier restore. */
	bool again;
	int error;     /* the positive errno of REFUSED or FAILED; 0 if there is none */
	bool fleeting; /* its backend says that such knobs appear and disappear all the time */
};

struct restore_rows {
	struct restore_row *items;
	size_t n;
	char *awaited_cpus; /* the list of CPUs that knobs wait for; NULL for none */
};
void restore_rows_clear(struct restore_rows *rows);
const char *restore_word_name(enum restore_word word);

/*
 * Puts back what the journal says, the last group first, under engine_lock(). The rule for a single
 * entry stands at the top of restore.c. The journal keeps the entries that are foreign, waiting,
 * refused or failed; without any it is removed. It forgets knobs that are gone, and CPUs that the
 * machine no longer has. A knob that cannot be read has failed.
 *
 * Returns 0 also when there is no journal, else the errno of the first knob that failed: the row of
 * that knob tells about it and `failure` does not; the other knobs are restored all the same.
 * `failure` is set when the journal cannot be used, with *ret untouched, or cannot be written.
 */
int restore_journal(
	const struct engine *engine, struct restore_rows *ret, struct engine_failure *failure);

/*
 * Puts back what a failed apply has turned, or may have moved: the knobs that have a
 * `before_apply`. Knobs that could not be put back, or have to wait for a CPU, are added to the
 * journal `remaining`, whose `online` becomes that of the apply's journal. Returns the errno of the
 * first knob that failed. After any other error nobody may rely on what `remaining` holds.
 */
int restore_turned(const struct engine *engine, const struct knob_plan *plan, const char *online,
	struct journal *remaining);

#endif
