/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --user: the user as whom root's runpinned runs the programs and the commands around the runs, and
 * with whose rights it opens, makes and writes the files that it was told of. Stamps, evidence, the
 * locks of the CPUs, --quiesce and --drop-caches stay root's.
 */
#ifndef QUIESCE_MEASURE_USER_H
#define QUIESCE_MEASURE_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t n_groups;
	char *name;
	char *home;
	char *shell;
	/* It is who has called sudo(8): the terminal and the files around are this user's. */
	bool is_caller;
	/* What root has now. */
	gid_t own_gid;
	gid_t *own_groups;
	size_t n_own_groups;
};

/*
 * Finds the user of that name or number; NULL: who has called sudo(8), pkexec(1) or doas(1). Says
 * what is wrong. -EINVAL where nobody is named, or root; -EPERM without root; another negative
 * errno where this process cannot become that user.
 */
int user_find(const char *name, struct user **ret);
void user_free(struct user *user);

DEFINE_CLEANUP(user, user_free);

/* Gives this process, and whatever it starts, the environment that the user expects, and nothing
 * that was left open for root. */
int user_take_place(const struct user *user);
/*
 * What follows until user_leave() opens and makes files as the user. Both do nothing for NULL. A
 * failure, which user_find() has excluded by a trial, ends this process: it must go on with neither
 * the rights of both nor the wrong ones.
 */
void user_enter(const struct user *user);
void user_leave(const struct user *user);

#endif
