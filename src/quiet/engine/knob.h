/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A knob is one value of the machine that can be read, written and compared. A plan is the list of
 * knobs that a setter wants to turn, in the order in which it turns them.
 *
 * Most knobs are files of sysfs, procfs or cgroupfs, named by their absolute path. A knob that is
 * not a file (a daemon's socket, a unit of systemd) has a backend and is named "scheme:rest".
 */
#ifndef QUIESCE_QUIET_ENGINE_KNOB_H
#define QUIESCE_QUIET_ENGINE_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "quiet/engine/knobtext.h"

/* The switch of boost that all frequency policies share. */
#define KNOB_GLOBAL_BOOST "/sys/devices/system/cpu/cpufreq/boost"

/* The result for a knob: the same five words in every tool, table and JSON output. */
enum knob_word {
	KNOB_NONE, /* not turned (yet): only `status` and --dry-run show it, as "-" */
	KNOB_APPLIED,
	KNOB_ALREADY,
	KNOB_UNAVAILABLE,     /* this machine or kernel has no such knob */
	KNOB_DENIED,	      /* root is needed, or the kernel refused */
	KNOB_HOST_CONTROLLED, /* only the hypervisor or the host of the container can change it */
};

/* A knob in a plan. */
struct knob {
	char *path;
	char *name; /* the name that users see: "cpu3 governor" */
	enum knob_kind kind;
	/* Groups are put back in reverse order. Within a group the order is the same for applying
	 * and for putting back, because only that order is accepted by the kernel (the reverse
	 * order fails for cpufreq). */
	unsigned group;
	/* NULL: an apply does not write the knob. It only saves the value, and restore puts it
	 * back, because turning another knob changes this one as a side effect. */
	char *wanted;
	/* The knob was added by knob_plan_add_word(): it is not read and not written. */
	bool settled;
	/* The CPU that the knob belongs to, -1 for none. In the table, knobs that have the same
	 * name and are the same in all other columns become one row for all their CPUs. */
	int cpu;
	/* All CPUs that the knob belongs to, if it belongs to several (then `cpu` is one of them);
	 * otherwise NULL. Freed with the plan. */
	struct cpumask *cpus;
	/* In the table, all successful rows with the same `fold`, such as "interrupts", become one
	 * row that counts them. NULL: the knob always has its own row. A static string. */
	const char *fold;
	/* What a knob that has the wanted value does not do on this kernel, for a person. A static
	 * string; NULL: nothing. */
	const char *caveat;
	/* The present value will do, whatever other value an earlier apply has set: an interrupt
	 * that somebody has moved is still away from the CPUs. */
	bool suffices;
	/* A refusal by the kernel is no failure of the whole operation, as with an interrupt that
	 * cannot be moved. */
	bool may_be_refused;

	/* The value, where the setter has just read it for its plan: the engine does not read it
	 * again before it turns knobs. NULL where it has not. */
	char *seen;

	/* The following are filled in by the engine. */
	char *now; /* the present value; NULL when it cannot be read, or could not be read back */
	/* The value before the engine wrote anything, including CPUs that are offline; NULL if that
	 * is the same as `now`. */
	char *with_offline;
	/* The engine has written that value down, and it is no limit, but only what the hardware
	 * allows (at_limit() of struct engine). False where the journal had the knob. */
	bool at_limit;
	/* `now` before the engine wrote anything; NULL if no write can touch this knob. */
	char *before_apply;
	/* The value that an earlier apply has left, for a knob that is only kept; NULL where it is
	 * unknown or no longer counts. */
	char *earlier_outcome;
	bool turned; /* the engine has written this knob */
	/* What an earlier apply had set, where somebody else has changed that since, which `note`
	 * says; else NULL. */
	char *foreign_from;
	/* The original value from the journal; NULL when no setter has changed the knob. */
	char *original;
	enum knob_word word;
	int error;  /* the positive errno of UNAVAILABLE or DENIED; 0 if there is none */
	char *note; /* a further explanation for the user, or NULL; a setter may set it, too */
};

struct knob_plan {
	struct knob *knobs;
	size_t n;
	size_t capacity;
};

/* Adds a copy of everything; `name` is a printf format. `wanted` may be NULL (see struct knob).
 * *ret is valid until the next knob is added. */
int knob_plan_add(struct knob_plan *plan, unsigned group, enum knob_kind kind, const char *path,
	const char *wanted, struct knob **ret, const char *name, ...) _printf_(7, 8);
/* Adds a row about a knob that does not exist or must not be turned: it appears in the table, and
 * nothing is written. */
int knob_plan_add_word(struct knob_plan *plan, unsigned group, enum knob_word word,
	const char *path, const char *note, const char *name, ...) _printf_(6, 7);
/* Replaces the note of the knob. With -ENOMEM the knob has no note. */
int knob_set_note(struct knob *knob, const char *format, ...) _printf_(2, 3);
/* Whether the word of the knob is APPLIED or ALREADY. */
bool knob_went_well(const struct knob *knob);
struct knob *knob_plan_find(const struct knob_plan *plan, const char *path);
void knob_plan_clear(struct knob_plan *plan);

/* A backend for knobs that are not files. Its functions return negative errnos with the same
 * meaning as for files: -ENOENT unavailable, -EACCES denied. */
struct knob_backend {
	const char *scheme;
	int (*read)(const char *rest, char **ret); /* *ret is one line of text, malloc'd */
	int (*write)(const char *rest, const char *text);
	/* Whether the value `now` may have been made by the kernel alone, for a knob that had the
	 * value `old` at first and `set` after all knobs had been turned. `set` is "" if the kernel
	 * may have forgotten that value. Then nobody has changed the knob. 1, 0 or an error. May be
	 * NULL. */
	int (*made_by_kernel)(const char *rest, const char *old, const char *set, const char *now);
	/* Like read(), but including CPUs that are offline, which read() leaves out. NULL if read()
	 * leaves nothing out. */
	int (*read_with_offline)(const char *rest, char **ret);
	/* Whether the only difference of `now`, as read() returns it, from `wanted` is that offline
	 * CPUs are missing: 1, 0 or an error. NULL if read() leaves nothing out. */
	int (*lacks_offline_only)(const char *wanted, const char *now);
	/* Whether only somebody else can have made the value `now` of a knob that was just set to
	 * `old`: 1, 0 or an error. May be NULL. */
	int (*is_chosen)(const char *rest, const char *old, const char *now);
	/* Knobs of this backend disappear by themselves all the time, so a missing one is not
	 * reported. This is what they are called together (`fold` of struct knob); NULL for other
	 * backends. */
	const char *fleeting;
	/* Another process carries out what is written, possibly after the write has failed or after
	 * the writer was killed. Then a knob that still has the old value may change later. */
	bool late;
	/* A write moves threads to other CPUs, because it changes a cpuset. */
	bool moves_threads;
	/* Whether this setter is allowed to have a knob with this name. A journal is a file, and
	 * what it names is written by root. NULL when read and write refuse everything that does
	 * not exist (a thread). */
	bool (*is_ours)(const char *rest);
};

/* Whether a write changes the CPUs of cpusets, and so those of threads: of a backend that says so,
 * of the file of a cpuset, and of what takes CPUs offline. */
bool knob_moves_threads(const struct knob_backend *backends, const char *path);

/* Whether the effect of a write may appear later than the write returns: with KNOB_FREQUENCY, or
 * with a backend that is `late`. */
bool knob_comes_late(const struct knob_backend *backends, enum knob_kind kind, const char *path);

/* Reads a knob. `backends` is an array that ends with an entry whose scheme is NULL; NULL when
 * there are only files. */
int knob_read(const struct knob_backend *backends, const char *path, char **ret);
/* Like knob_read(), but including CPUs that are offline, which knob_read() leaves out. -ENOENT for
 * knobs for which knob_read() leaves nothing out. */
int knob_read_with_offline(const struct knob_backend *backends, const char *path, char **ret);
/* Writes the whole text by one write(2), and tries once more after EBUSY. */
int knob_write(const struct knob_backend *backends, const char *path, const char *text);
/* The deadline for late effects of all writes until now; see knob_read_back(). */
int64_t knob_deadline(void);
/*
 * Reads a knob back after a write. With KNOB_FREQUENCY it is read again and again until the value
 * means the same as `wanted`, or until the deadline; *ret is the value that was read last. It is
 * not enough that the value has changed, because turning boost off changes limits, too. One
 * deadline is used for all knobs that were written before it: otherwise a thousand knobs whose
 * values the driver has rounded would take a thousand times as long.
 */
int knob_read_back(const struct knob_backend *backends, enum knob_kind kind, const char *path,
	const char *wanted, int64_t deadline, char **ret);

/*
 * Finds the CPUs that a file belongs to from its path: the CPU of .../cpu/cpu3/..., and the
 * related_cpus of .../cpu/cpufreq/policy2/... *ret_cpu is -1 if there is none. *ret_cpus is NULL
 * unless there are several.
 */
int knob_find_cpus(const char *path, int *ret_cpu, struct cpumask **ret_cpus);

/* The N of .../cpu/cpufreq/policyN/...; -1 for any other path. */
int knob_find_policy(const char *path);

/*
 * Reads the number of the policy that a CPU belongs to from the link cpuN/cpufreq. The kernel keeps
 * this link while the CPU is offline, but the files of a policy cannot be read while all its CPUs
 * are offline (add_cpu_dev_symlink() in drivers/cpufreq/cpufreq.c). -ENOENT where there is none; an
 * error as of errno_is_ours().
 */
int knob_read_policy(int cpu, int *ret);

/* The CPU whose file `online` this is; -1 for any other path. */
int knob_find_switched_cpu(const char *path);

/* The backend of a knob, and the name of the knob within that backend; NULL when the knob is a
 * file. */
const struct knob_backend *knob_find_backend(
	const struct knob_backend *backends, const char *path, const char **ret_rest);

/* "applied", ... */
const char *knob_word_name(enum knob_word word);
/* Whether a positive errno means that there is no such knob on this machine, and not that it
 * refused. */
bool knob_error_is_unavailable(int error);

#endif
