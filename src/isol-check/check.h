/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A check: one question about the machine, and its answer, the finding.
 *
 * The checks stand in tables, one for each subject (subjects.h), in the order in which they are
 * shown. To add one: a function that looks and says what it found, and a line in its subject's
 * table. It reads the machine through struct host, which keeps what it has read, and must bear
 * whatever a machine lacks: where nothing can be known, it says nothing and the answer is
 * `unknown`, with the reason why its first path could not be read. So the path is added before the
 * file is read; and a file that is empty, or makes no sense, is no evidence of anything.
 */
#ifndef QUIESCE_ISOL_CHECK_CHECK_H
#define QUIESCE_ISOL_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "isol-check/host.h"
#include "machine/cpumask.h"

/* From good to bad: what is worse, wins. */
enum verdict {
	VERDICT_OK,
	VERDICT_INFO,	 /* worth knowing, and nothing to be done about */
	VERDICT_UNKNOWN, /* it could not be seen */
	VERDICT_RISK,	 /* may disturb a run, or make two runs differ, if something happens */
	VERDICT_NOISE,	 /* disturbs, or makes a difference, as the machine is now */
	VERDICT_N,
};

/* "ok", "info", ...: as in the table and in JSON. */
const char *finding_verdict_name(enum verdict verdict);

/* All zero is an empty one. */
struct finding {
	enum verdict verdict;
	struct text seen; /* what was seen: values */
	struct text path; /* where; several are separated by ", " */
	struct text fix;  /* what to do: a command or a boot parameter; empty for nothing */
	/* The CPUs that it is about, "3,11"; NULL: those that the whole check is about, or none in
	 * particular. */
	char *cpus;
	bool failed; /* no memory */
};

/* Adds to what was seen, with "; " between, and makes the verdict worse if it is. */
void finding_add(struct finding *finding, enum verdict verdict, const char *format, ...)
	_printf_(3, 4);
void finding_add_path(struct finding *finding, const char *format, ...) _printf_(2, 3);
/* Several are separated by ", or ". */
void finding_add_fix(struct finding *finding, const char *format, ...) _printf_(2, 3);
void finding_set_cpus(struct finding *finding, const struct cpumask *cpus);
/* Why host_tasks() has none. */
void finding_add_no_tasks(struct finding *finding, const struct host *host);
/* That others than those in host_tasks() may be there (host_sees_all_tasks()). */
void finding_add_few_tasks(struct finding *finding);
/* Of which CPUs nothing was seen, if any: what the others show says nothing of them. */
void finding_add_unseen(
	struct finding *finding, struct host *host, const struct cpumask *unseen, const char *what);
/* Why nothing is known of what happens a second. */
void finding_add_not_watched(struct finding *finding, const struct host *host);
void finding_clear(struct finding *finding);

struct check {
	const char *id; /* unique, and never changed once it was released */
	void (*look)(struct host *host, struct finding *finding);
	/* For --explain: what it does to a benchmark, by how much, and where that is known from. */
	const char *explain;
	/* It asks for host_tasks(), and so comes after those that have not to wait for them. */
	bool of_tasks;
};

struct subject {
	const char *name;
	const struct check *checks;
	size_t n;
};

/* Looks. The verdict is VERDICT_UNKNOWN, and *ret says so, where the check said nothing. -ENOMEM.
 */
int check_run(const struct check *check, struct host *host, struct finding *ret);

#endif
