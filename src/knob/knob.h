/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A knob: one value of the machine that can be read, written and compared, and a plan: the knobs
 * that a setter wants to turn, in the order in which it turns them.
 *
 * Most knobs are files of sysfs, procfs or cgroupfs, named by their absolute path. What is no file
 * (a daemon's socket, a unit of systemd) has a backend of its own and is named "scheme:rest".
 */
#ifndef QUIESCE_KNOB_KNOB_H
#define QUIESCE_KNOB_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/macro.h"
#include "machine/cpumask.h"
#include "state/knobtext.h"

/* What became of a knob: the same five words in every tool, table and JSON. */
enum knob_word {
	KNOB_NONE, /* not turned (yet): only `status` and --dry-run show it, as "-" */
	KNOB_APPLIED,
	KNOB_ALREADY,
	KNOB_UNAVAILABLE,     /* this machine or kernel has no such knob */
	KNOB_DENIED,	      /* needs root, or the kernel refused */
	KNOB_HOST_CONTROLLED, /* the hypervisor's or the container host's to decide */
};

/* What a plan holds of a knob. */
struct knob {
	char *path;
	char *name; /* for people: "cpu3 governor" */
	enum knob_kind kind;
	/* Groups are undone backwards; inside of a group the order is the same both ways, because
	 * that is what the kernel accepts (a plain reverse fails for cpufreq). */
	unsigned group;
	/* NULL: not written when applied, only kept and put back, because turning another knob
	 * changes it as a side effect. */
	char *wanted;
	/* A row of add_word(): nothing is read or written. */
	bool settled;
	/* The CPU that it belongs to, -1 for none. In the table, knobs of one name that are alike
	 * in all else become one row for all their CPUs. */
	int cpu;
	/* All CPUs, where it belongs to more than one (then `cpu` is one of them); NULL for none.
	 * The plan frees it. */
	struct cpumask *cpus;
	/* In the table, rows of one fold that went well become one row that counts them, such as
	 * "interrupts"; NULL for none. A static string. */
	const char *fold;
	/* The kernel may refuse this one without the whole being a failure: an interrupt that
	 * cannot be moved. */
	bool may_be_refused;

	/* Filled by the engine. */
	char *now; /* NULL when it cannot be read, or could not be read back: it is not known */
	/* As `now` before the engine wrote anything, but with CPUs that are offline; NULL if that
	 * is the same as `now`. */
	char *with_offline;
	/* `now` before the engine wrote anything; NULL if no write can touch this knob. */
	char *before_apply;
	bool turned;	/* the engine has written this knob */
	char *original; /* from the journal; NULL when we never changed it */
	enum knob_word word;
	int error;  /* positive errno behind UNAVAILABLE and DENIED, 0 if there is none */
	char *note; /* more of why, for a person; may be NULL. A setter may set it, too */
};

struct knob_plan {
	struct knob *knobs;
	size_t n;
	size_t capacity;
};

/* Copies; name is a printf format. wanted may be NULL, see there. The pointer holds until the next
 * knob is added. */
int knob_plan_add(struct knob_plan *plan, unsigned group, enum knob_kind kind, const char *path,
	const char *wanted, struct knob **ret, const char *name, ...) _printf_(7, 8);
/* Says beforehand that this knob is not there or not ours to turn: a row of the table, no write. */
int knob_plan_add_word(struct knob_plan *plan, unsigned group, enum knob_word word,
	const char *path, const char *note, const char *name, ...) _printf_(6, 7);
/* In place of the note that it has. -ENOMEM leaves it without one. */
int knob_set_note(struct knob *knob, const char *format, ...) _printf_(2, 3);
/* APPLIED or ALREADY. */
bool knob_went_well(const struct knob *knob);
struct knob *knob_plan_find(const struct knob_plan *plan, const char *path);
void knob_plan_clear(struct knob_plan *plan);

/* A place for knobs that are no files. Errors are negative errnos with the meaning that they have
 * for files: -ENOENT unavailable, -EACCES denied. */
struct knob_backend {
	const char *scheme;
	int (*read)(const char *rest, char **ret); /* malloc'd, one line */
	int (*write)(const char *rest, const char *text);
	/* Whether the kernel alone may have made the value `now` of a knob that was `old` at first
	 * and `set` after all knobs had been turned; `set` is "" if the kernel may have forgotten
	 * that value. Then nobody has changed the knob. 1, 0 or an error. May be NULL. */
	int (*made_by_kernel)(const char *rest, const char *old, const char *set, const char *now);
	/* As read(), with the CPUs that are offline, which read() leaves out. NULL if read() leaves
	 * nothing out. */
	int (*read_with_offline)(const char *rest, char **ret);
	/* They end by themselves all the time, so that one that is gone is no news. What they are
	 * together (the `fold` of struct knob); NULL for others. */
	const char *fleeting;
	/* Somebody else does what is written, and may do it after the write has failed, or after
	 * the writer was killed: a read that still shows the old value proves nothing then. */
	bool late;
	/* Whether this setter may have a knob of that rest: what a journal says is written by root.
	 * NULL where read and write refuse all that does not exist (a thread). */
	bool (*is_ours)(const char *rest);
};

/* Whether what was written may show later than the write returned: KNOB_FREQUENCY, or a backend
 * that is late. */
bool knob_comes_late(const struct knob_backend *backends, enum knob_kind kind, const char *path);

/* The backends of a setter, ended by one with scheme NULL; NULL for none but files. */
int knob_read(const struct knob_backend *backends, const char *path, char **ret);
/* As knob_read(), with the CPUs that are offline, which knob_read() leaves out. -ENOENT for knobs
 * of which knob_read() leaves nothing out. */
int knob_read_with_offline(const struct knob_backend *backends, const char *path, char **ret);
/* One write(2) of the whole text; once more when the answer is EBUSY. */
int knob_write(const struct knob_backend *backends, const char *path, const char *text);
/* How long what comes late is waited for: the deadline for knobs that were written up to now. */
int64_t knob_deadline(void);
/*
 * knob_read(), for KNOB_FREQUENCY again and again until the value is `wanted` by meaning or the
 * deadline is over; what was read last. A limit that moved need not have arrived: turning boost
 * off moves it, too. One deadline serves all knobs that were written before it, so that a
 * thousand that were rounded do not take a thousand times as long.
 */
int knob_read_back(const struct knob_backend *backends, enum knob_kind kind, const char *path,
	const char *wanted, int64_t deadline, char **ret);

/*
 * The CPUs that a file belongs to, as its path tells: that of .../cpu/cpu3/..., and those of
 * .../cpu/cpufreq/policy2/... (its related_cpus). *ret_cpu is -1 for none, *ret_cpus NULL unless
 * they are more than one.
 */
int knob_find_cpus(const char *path, int *ret_cpu, struct cpumask **ret_cpus);

/* The backend of a knob that is no file, and what it calls the knob; NULL for a file. */
const struct knob_backend *knob_find_backend(
	const struct knob_backend *backends, const char *path, const char **ret_rest);

/* "applied", ... */
const char *knob_word_name(enum knob_word word);
/* Whether an errno (positive) says that there is no such knob here, rather than that it refused. */
bool knob_error_is_unavailable(int error);
/* Whether an errno (positive) is about this process, and says nothing of the knob: no memory, no
 * descriptor left, a signal. */
bool knob_error_is_ours(int error);

#endif
