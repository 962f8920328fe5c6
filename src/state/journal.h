/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal: what a setter changed and what stood there before, in /run/quiesce/TOOL.journal.
 *
 * It is written, whole and synced, before the first knob is touched, so that whatever ends the
 * setter, `restore` finds what there is to put back. It lives in /run because the settings die with
 * the boot, and so must it: it carries the boot's id, and one of another boot is dropped.
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
 * field. SINCE is when OLD was read (CLOCK_BOOTTIME, nanoseconds): where several setters have
 * turned one knob, it tells which value lies over which. NEW is "\?" where it is not known what a
 * knob will be (another knob's side effect), or has become, until it has been read back. One more
 * field says what a restore did not put back: "left", that it has left the knob to somebody else,
 * and "waits", that the knob needs a CPU that is offline. The line with the CPUs that were online
 * when the journal was begun may be absent.
 *
 * The checksum, 16 hexadecimal digits, is the 64-bit FNV-1a of all bytes before it: no single byte
 * can change without changing the checksum.
 *
 * Without its last line, with another checksum, or with anything else unexpected, a journal is
 * damaged: it is refused and left in place, for it may be all that is known of the machine as it
 * was. So is one with a path that no setter writes, see journal_path_is_ours(): root writes there.
 */
#ifndef QUIESCE_STATE_JOURNAL_H
#define QUIESCE_STATE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "state/knobtext.h"

#define JOURNAL_DIRECTORY "/run/quiesce"

struct journal_entry {
	unsigned group;
	uint64_t since; /* when `old` was read: CLOCK_BOOTTIME, nanoseconds */
	enum knob_kind kind;
	char *path;
	char *name;
	char *old;
	char *new;	    /* NULL: not known */
	bool left_alone;    /* a restore has left the knob as it is, and said so */
	bool waits_for_cpu; /* the knob needs an offline CPU, and a restore has said so */
	bool drop;	    /* see journal_drop() */
};

/* Entries stand in the order in which their knobs are turned. */
struct journal {
	char *tool;
	char *online; /* list of the CPUs that were online when it was begun; NULL: not known */
	struct journal_entry *entries;
	size_t n;
	size_t capacity;
	size_t *by_path; /* `capacity` of them: indices of entries, sorted by path if `is_sorted` */
	bool is_sorted;
};

/* An empty one. */
int journal_new(const char *tool, struct journal **ret);
void journal_free(struct journal *journal);
DEFINE_CLEANUP(journal, journal_free);

/* Whether a setter may have a knob of that path: a file below /sys, /proc/sys or /proc/irq, or one
 * with the CPUs of a cpuset of cgroup v1, which may be mounted anywhere, without ".." in it; or
 * "scheme:rest", whose rest the setter's own backends judge. */
bool journal_path_is_ours(const char *path);

/* Copies; the entry is as of now. new may be NULL. The path must be new to the journal. */
int journal_add(struct journal *journal, unsigned group, enum knob_kind kind, const char *path,
	const char *name, const char *old, const char *new);
/* NULL when it has none of that path. Holds until something is added. */
struct journal_entry *journal_find(struct journal *journal, const char *path);
/* Puts the entries in the order of their ranks; those of one rank stay as they stand. */
int journal_sort(struct journal *journal, unsigned (*rank)(const char *path));
/* Takes out the entries that are marked to be dropped: it turned out that nothing changed. */
void journal_drop(struct journal *journal);
int journal_copy(const struct journal *journal, struct journal **ret);

/* The journal as text and back; -EBADMSG when it is damaged, of another version or another tool's,
 * with a phrase in *ret_why (malloc'd); -ESTALE for one of another boot that is whole. */
char *journal_format(const struct journal *journal, const char *boot_id);
int journal_parse(const char *text, const char *tool, const char *boot_id, struct journal **ret,
	char **ret_why);

/* The file of a tool, malloc'd; NULL without memory. */
char *journal_format_path(const char *tool);
/* That of this machine: as journal_parse(), -ENOENT when there is none, and other errors of reading
 * it. */
int journal_read(const char *tool, struct journal **ret, char **ret_why);

/* --- The file: written before the first knob is touched, put away after the last was put back, and
 * by one setter at a time. --- */

/*
 * -ENOENT when there is none (also when it is of another boot: nothing of it is left to put back),
 * -EBADMSG when it is damaged, of another version or another tool's, with a phrase in *ret_why
 * (malloc'd); other errors of reading it.
 */
int journal_load(const char *tool, struct journal **ret, char **ret_why);
/* Writes it in place of the old one, as journal_write_file(). */
int journal_save(const struct journal *journal);
/* 0 also when there is none. For who holds the lock. */
int journal_remove(const char *tool);

/* A descriptor of /run/quiesce (0755), which is made if it is not there; -EPERM when that is not a
 * directory of root's alone. */
int journal_open_directory(void);
/* A file in there, for everybody to read; in place of the old one, whole and synced. */
int journal_write_file(const char *path, const char *text);

#define JOURNAL_LOCK JOURNAL_DIRECTORY "/lock"

/*
 * One lock for all setters on the machine: two never interleave. Waits for at most `seconds`, then
 * -EAGAIN. A descriptor, to be closed. Nobody but root can open the file, and so hold the lock.
 */
int journal_lock(unsigned seconds);

#endif
