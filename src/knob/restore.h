/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Putting back what a journal says.
 */
#ifndef QUIESCE_KNOB_RESTORE_H
#define QUIESCE_KNOB_RESTORE_H

#include <stdbool.h>
#include <stddef.h>

#include "knob/engine.h"

/* What restoring did with an entry of the journal. */
enum restore_word {
	RESTORE_DONE,	   /* written back */
	RESTORE_UNCHANGED, /* it was as before already, or we never changed it */
	RESTORE_FOREIGN,   /* somebody else has changed it since: it stays as it is */
	RESTORE_HANDED,	   /* another setter has turned it since, and will put it back (layers.h) */
	RESTORE_GONE,	   /* the knob is gone, or all CPUs are that its old value named */
	RESTORE_REFUSED,   /* the kernel refused, and engine->may_stay() expects that */
	RESTORE_WAITING,   /* it needs a CPU that is offline; all else of it is as before */
	RESTORE_FAILED,
};

struct restore_row {
	enum knob_kind kind;
	char *path;
	char *name;
	char *original;
	char *now; /* NULL when it cannot be read */
	enum restore_word word;
	bool again;    /* FOREIGN, REFUSED or WAITING, as in an earlier restore */
	int error;     /* positive errno behind REFUSED and FAILED, 0 if there is none */
	bool fleeting; /* its backend says that such knobs come and go all the time */
};

struct restore_rows {
	struct restore_row *items;
	size_t n;
	char *awaited_cpus; /* list of the CPUs that knobs wait for; NULL for none */
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
