/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A check: one question about the machine, and its answer, the finding.
 *
 * The checks are in tables, one for each subject (subjects.h), in the order in which they are
 * shown. To add one: write a function that fills in a finding, and add a row to the table of its
 * subject.
 *
 * The function reads the machine through struct host, which caches what it has read. Any file may
 * be missing, empty, or make no sense; such a file is no evidence. If nothing can be known, the
 * function adds nothing to `seen`: the verdict is then `unknown`, with the reason why the first
 * path could not be read. So the function adds a path before it reads the file.
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_CHECK_H
#define QUIESCE_LOOK_ISOL_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "base/text.h"
#include "look/isol-check/host.h"

/* From good to bad: a finding has the worst of its verdicts. */
enum verdict {
	VERDICT_OK,
	VERDICT_INFO,	 /* worth knowing, but nothing has to be done */
	VERDICT_UNKNOWN, /* could not be read */
	VERDICT_RISK,	 /* may disturb a run, or make two runs differ, if something happens */
	VERDICT_NOISE,	 /* disturbs a run, or makes two runs differ, as the machine is now */
	VERDICT_N,
};

/* "ok", "info", ..., as shown in the table and in JSON. */
const char *finding_verdict_name(enum verdict verdict);

/* All zero: an empty finding. */
struct finding {
	enum verdict verdict;
	struct text seen; /* the values that were seen, in words */
	struct text path; /* the files; separated by ", " */
	struct text fix;  /* what to do: a command or a boot parameter; empty for nothing */
	/* The CPUs of the finding, "3,11"; NULL: all CPUs of the check, or no particular ones. */
	char *cpus;
};

/* Appends to `seen`, separated by "; ", and raises the verdict to the given one if that is worse.
 */
void finding_add(struct finding *finding, enum verdict verdict, const char *format, ...)
	_printf_(3, 4);
void finding_add_path(struct finding *finding, const char *format, ...) _printf_(2, 3);
/* Fixes are separated by ", or ". */
void finding_add_fix(struct finding *finding, const char *format, ...) _printf_(2, 3);
void finding_set_cpus(struct finding *finding, const struct cpumask *cpus);
/* The same for the worst of the checked CPUs; nothing where only one is checked. */
void finding_set_worst_cpu(struct finding *finding, struct host *host, int cpu);
/* Adds why host_tasks() is NULL. */
void finding_add_no_tasks(struct finding *finding, const struct host *host);
/* Adds that there may be more tasks than those of host_tasks() (see host_sees_all_tasks()). */
void finding_add_few_tasks(struct finding *finding);
/* Adds the CPUs for which `what` could not be read, if there are any. */
void finding_add_unseen(struct finding *finding, const struct cpumask *unseen, const char *what);
/* Adds the path of a hexadecimal mask, and reads it: 1 with its CPUs as a list (malloc'd) when it
 * has any of the checked ones, 0 when it has none, a negative errno when that is not known. */
int finding_add_mask(struct finding *finding, struct host *host, const char *path, char **ret_list);
/* Adds why no rates are known: the machine was not watched. */
void finding_add_not_watched(struct finding *finding, const struct host *host);
void finding_clear(struct finding *finding);

struct check {
	const char *id; /* unique, and never changed once it was released */
	void (*look)(struct host *host, struct finding *finding);
	/* For --explain: how the subject affects a benchmark, how much, and the source of that. */
	const char *explain;
	/* look() calls host_tasks(), which may wait: so the check runs after those that do not. */
	bool of_tasks;
};

struct subject {
	const char *name;
	const struct check *checks; /* ended by one without an id */
};

/* Runs a check. If it adds nothing to `seen`, the verdict is VERDICT_UNKNOWN with a reason. */
void check_run(const struct check *check, struct host *host, struct finding *ret);

#endif
