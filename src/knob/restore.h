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
	RESTORE_FOREIGN,   /* somebody else changed it since: left as it is */
	RESTORE_HANDED,	   /* another setter has turned it since, and will put it back (layers.h) */
	RESTORE_GONE,	   /* there is no such knob any more, or none of the CPUs that it named */
	RESTORE_REFUSED,   /* engine->may_stay() */
	RESTORE_WAITING,   /* for a CPU that is offline; the rest is as it was */
	RESTORE_FAILED,
};

struct restore_row {
	enum knob_kind kind;
	char *path;
	char *name;
	char *original;
	char *now; /* NULL when it cannot be read */
	enum restore_word word;
	bool again;    /* FOREIGN or WAITING, as an earlier restore has found it, too */
	int error;     /* positive errno behind REFUSED and FAILED, 0 if there is none */
	bool fleeting; /* as its backend says: one that is gone is no news */
};

struct restore_rows {
	struct restore_row *items;
	size_t n;
	char *awaited_cpus; /* list of the CPUs for which knobs wait; NULL for none */
};
void restore_rows_clear(struct restore_rows *rows);
const char *restore_word_name(enum restore_word word);

/*
 * Puts back what the journal says, groups backwards, under engine_lock(). Values that somebody else
 * changed since stay, unless forced; what needs a CPU that went offline since is put back as far as
 * it can be; what another setter has turned since is handed over to it. What is left over (foreign,
 * waiting, refused or failed) stays in the journal, else the journal goes: it forgets what is gone,
 * and of lists of CPUs those that the machine has no more. What
 * cannot be read has failed. 0 also when there is no journal. The errno of the first knob that
 * failed, of which its row tells and `failure` does not; the others are restored all the same. The
 * failure is set when the journal cannot be used, with *ret untouched then, or not be written.
 */
int restore_journal(
	const struct engine *engine, struct restore_rows *ret, struct engine_failure *failure);

/*
 * Puts back what an apply that failed has turned, or may have moved: the knobs that have a
 * `before`. What of it could not be put back, or has to wait for a CPU, is added to the journal
 * `left`, whose `online` becomes that of the apply's journal. The errno of the first knob that
 * failed. What `left` has after an error of the whole is no answer.
 */
int restore_turned(const struct engine *engine, const struct knob_plan *plan, const char *online,
	struct journal *remaining);

#endif
