/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What crash.c and tests/faults/faults.c share: the files of a described machine, a setter that is
 * run there, and what is wrong with the machine afterwards.
 *
 * Both run on the machine in a DIRECTORY (under sysroot, as root, with a /run of their own), whose
 * files they read and repair by that name. Everything that goes wrong with the test itself ends it,
 * by die().
 */
#ifndef QUIESCE_TESTS_SCENE_H
#define QUIESCE_TESTS_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_BAD_USAGE = 2,
	EXIT_SKIP = 77,
};

__attribute__((format(printf, 2, 3), noreturn)) void die(int status, const char *format, ...);

struct entry {
	char *path;
	mode_t type;
	char *text; /* of a file, or a link's target; NULL for a directory */
	size_t length;
};

/* All below DIRECTORY/sys and DIRECTORY/proc, sorted by path. */
struct tree {
	struct entry *entries;
	size_t n;
	size_t capacity;
};

/* Notes from now on which files are touched, so that check_tree() need not read the rest. To be
 * called once, before the first read_tree(). */
void watch_tree(const char *directory);
/* Ends the program if the machine, which was as `before`, is as `after` now, and the kernel told
 * nothing of that. */
void prove_watch(const struct tree *before, const struct tree *after);
void read_tree(const char *directory, struct tree *tree);
void free_tree(struct tree *tree);
/* How many entries differ; says how, up to a few lines. Repairing sets the files back to `before`.
 * A choice that is overwritten by its bare word, as a plain file is, counts as the same. */
unsigned compare_trees(
	const struct tree *before, const struct tree *after, bool repair, const char *what);

char *read_file(const char *path, size_t *ret_length);
void write_file(const char *path, const char *text, size_t length);

/* Set by main(): the setter and its arguments. */
extern const char *tool;
extern char **arguments;

/* The words of `TOOL VERB [ARGUMENT...]`, until the next call. */
char **command(const char *verb, bool with_arguments);
/* For the child that is to be the setter: standard error goes to ERROR_FILE, standard output to
 * OUTPUT_FILE. */
#define ERROR_FILE "/run/scene-stderr"
#define OUTPUT_FILE "/run/scene-stdout"
void redirect(void);
/*
 * Processes that a setter leaves, such as the child that it ends without waiting for it, become
 * children of this program, which waits for their end after each run: they may still hold what the
 * setter had open, setters that read all processes would read the dead ones as well, and the first
 * process of a namespace may not reap them.
 */
void adopt_orphans(void);
void reap_orphans(void);
/* Runs the setter in peace; its exit status as a shell has it. */
int run(const char *verb, bool with_arguments);

/* Failures so far; what each was is said for some of them, with the setter's last messages. */
extern unsigned failures;
void fail(const char *what, const char *why, int number);
/* Whether nothing but the lock is in /run/quiesce, so that there is nothing to restore. */
bool is_run_directory_empty(void);
/* run(), and a failure unless the exit status is 0. */
void run_well(const char *verb, bool with_arguments, const char *what);

/* Remembers the CPUs that this program may run on, which it must have in the end. */
void note_own_cpus(void);
/* The machine must be as wanted; at the end also this program's CPUs as they were, and /run/quiesce
 * hold nothing but the lock. All is repaired then. */
void check_tree(const char *directory, const struct tree *wanted, bool end, const char *what);

#endif
