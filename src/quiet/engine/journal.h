/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal: which knobs a setter has changed and their old values, in /run/quiesce/TOOL.journal.
 *
 * The journal is written completely and synced before the first knob is changed, so that `restore`
 * finds everything to put back, however the setter ends. It is in /run because the settings do not
 * survive a reboot: the journal has the boot's id, and one of another boot is discarded.
 *
 *	quiesce journal 2
 *	boot	c5b5...
 *	tool	freq-pin
 *	online	CPUS
 *	knob	GROUP	SINCE	KIND	PATH	NAME	OLD	NEW
 *	...
 *	end	COUNT	CHECKSUM
 *
 * Fields are separated by tabs; \t, \n and \\ stand for a tab, a newline and a backslash in a
 * field. SINCE is the time at which OLD was read (CLOCK_BOOTTIME, nanoseconds): where several
 * setters have changed one knob, it tells the order. NEW is "\?" as long as the new value is not
 * known: when it is the side effect of another knob, until it has been read back. One more field,
 * "free", follows where OLD was no limit, but only what the hardware allowed. The last one says why
 * a restore has not put the knob back: "left" when somebody else has changed it, "waits" when it
 * needs a CPU that is offline. Where no apply has written the knob, "same" or "kept" stands in
 * place of "knob" (enum journal_role); early versions wrote "knob" there, too. The line `online`,
 * the CPUs that were online when the journal was begun, may be absent.
 *
 * The checksum, 16 hexadecimal digits, is the 64-bit FNV-1a of all bytes before it: changing any
 * single byte changes the checksum.
 *
 * A journal without its last line, with a wrong checksum, or with anything else unexpected is
 * damaged: it is refused and not removed, because it may be the only record of the machine's former
 * state. A journal with a path that no setter writes is damaged too, see journal_path_is_ours():
 * root writes to these paths.
 */
#ifndef QUIESCE_QUIET_ENGINE_JOURNAL_H
#define QUIESCE_QUIET_ENGINE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "quiet/engine/knobtext.h"

/* Where root's journals are. */
#define JOURNAL_DIRECTORY "/run/quiesce"

/* The directory of the journals that all functions below use. */
const char *journal_directory(void);
/*
 * From here on $XDG_RUNTIME_DIR/quiesce: for an ordinary user who turns only what belongs to him.
 * -ENOENT where the variable names no directory, -EPERM where that directory does not belong to
 * this user alone. The directory of the journals itself is made with the first journal.
 */
int journal_use_own_directory(void);
/* Undoes that. */
void journal_use_root_directory(void);
/* Whether the directory belongs to an ordinary user. */
bool journal_is_own(void);

/* What applies have done with a knob: the least of these holds for all of them. */
enum journal_role {
	JOURNAL_TURNED, /* one has written it */
	JOURNAL_SAME,	/* it had the wanted value already, and was not written */
	JOURNAL_KEPT,	/* nobody wanted anything of it: see `wanted` of struct knob */
};

struct journal_entry {
	unsigned group;
	uint64_t since; /* when `old` was read: CLOCK_BOOTTIME, nanoseconds */
	enum knob_kind kind;
	char *path;
	char *name;
	char *old;
	char *new; /* NULL: not known */
	enum journal_role role;
	bool free;	    /* `old` was no limit: see `at_limit` of struct knob */
	bool left_alone;    /* a restore has left the knob unchanged, and reported it */
	bool waits_for_cpu; /* the knob needs an offline CPU, and a restore has reported it */
	bool drop;	    /* see journal_drop() */
};

/* The entries are in the order in which their knobs are changed. */
struct journal {
	char *tool;
	char *online; /* CPUs that were online at the beginning; NULL: not known */
	struct journal_entry *entries;
	size_t n;
	size_t capacity;
	size_t *by_path; /* indices of entries, sorted by path if `is_sorted` */
	bool is_sorted;
};

/* Creates an empty journal. */
int journal_new(const char *tool, struct journal **ret);
void journal_free(struct journal *journal);
DEFINE_CLEANUP(journal, journal_free);

/* Whether a setter may have a knob with this path: a file below /sys, /proc/sys or /proc/irq, or a
 * file with the CPUs of a cgroup v1 cpuset, which may be mounted anywhere, without ".." in the
 * path; or "scheme:rest", where the setter's own backends check the rest. */
bool journal_path_is_ours(const char *path);

/* Whether it is the file with the CPUs of a cpuset, by its name. cgroup v1 calls it "cpus" where it
 * was mounted with noprefix. */
bool journal_path_is_cpuset(const char *path);

/* Adds a copy of an entry and of its texts. The journal must not have the path yet. */
int journal_add_copy(struct journal *journal, const struct journal_entry *entry);
/* The same for an entry that has no flags yet; its `since` is the current time. new may be NULL. */
int journal_add(struct journal *journal, unsigned group, enum knob_kind kind, const char *path,
	const char *name, const char *old, const char *new);
/* Replaces the old value by one that was read just now. */
int journal_set_old(struct journal_entry *entry, const char *old);
/* NULL when no entry has this path. Valid until an entry is added. */
struct journal_entry *journal_find(struct journal *journal, const char *path);
/* The same for an entry that still counts: NULL also where a restore has left the knob to somebody
 * else since, and where there is no journal (NULL). */
const struct journal_entry *journal_find_ours(struct journal *journal, const char *path);
/* Sorts the entries by rank; entries of equal rank keep their order. */
int journal_sort(struct journal *journal, unsigned (*rank)(const char *path));
/* Removes the entries with `drop`, whose knobs turned out to be unchanged. */
void journal_drop(struct journal *journal);
int journal_copy(const struct journal *journal, struct journal **ret);

/* Formats and parses the text of a journal. -EBADMSG when it is damaged, of another version or of
 * another tool, with a phrase in *ret_why (malloc'd); -ESTALE for an intact journal of another
 * boot. */
char *journal_format(const struct journal *journal, const char *boot_id);
int journal_parse(const char *text, const char *tool, const char *boot_id, struct journal **ret,
	char **ret_why);

/* The path of a tool's journal, malloc'd; NULL when out of memory. */
char *journal_format_path(const char *tool);
/* Whether there is such a file; true also where that cannot be known. */
bool journal_exists(const char *tool);
/* Reads a tool's journal. Errors as journal_parse(), -ENOENT when there is none, and other errors
 * of reading it. */
int journal_read(const char *tool, struct journal **ret, char **ret_why);

/* --- The file: written before the first knob is changed, removed after the last was put back, and
 * used by one setter at a time. --- */

/*
 * As journal_read(), but also -ENOENT for a journal of another boot, which has nothing left to put
 * back.
 */
int journal_load(const char *tool, struct journal **ret, char **ret_why);
/*
 * Whether a result of journal_load() is an error that leaves open what an earlier apply has set.
 * Without a journal (-ENOENT) nothing is set, and by a damaged one (-EBADMSG), which the engine
 * reports, nothing can be put back. After any other error, -EIO as well as -ENOMEM, there may be an
 * intact journal: who went on as if there were none would take what is not known for unchanged.
 */
bool journal_error_counts(int r);
/* Writes the journal and replaces the old one, as journal_write_file(). -EFBIG for one that
 * journal_read() would refuse to read: above 64 MiB. */
int journal_save(const struct journal *journal);
/* 0 also when there is no journal. The caller holds the lock. */
int journal_remove(const char *tool);

/* A descriptor of /run/quiesce (0755), which is created if necessary; -EPERM when others than root
 * can write to it. */
int journal_open_directory(void);
/* Writes a file in this directory, readable for everybody; replaces the old file, whole and
 * synced. */
int journal_write_file(const char *path, const char *text);

/*
 * One lock for all setters on the machine: two never run at the same time. Waits for at most
 * `seconds`, then -EAGAIN. Returns a descriptor, for journal_unlock(). Only root can open the file,
 * and so hold the lock.
 */
int journal_lock(unsigned seconds);
/*
 * Releases the lock even if a child has a copy of the descriptor: close(2) alone releases it only
 * with the last copy, and a child of forks_wait() may still be dying. Does nothing when *fd is
 * negative.
 */
void journal_unlock(int *fd);
#define _cleanup_unlock_ __attribute__((cleanup(journal_unlock)))

#endif
