// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "measure/become.h"
#include "measure/user.h"

enum {
	GROUPS_FIRST = 32,
	GROUPS_MAX = 65536, /* NGROUPS_MAX (include/uapi/linux/limits.h) */
};

/* What sudo(8) and the like tell of the one who has called them. */
static const char *const callers[] = { "SUDO_UID", "PKEXEC_UID", "DOAS_USER" };
static const char *const forgotten[] = { "SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND",
	"SUDO_HOME", "PKEXEC_UID", "DOAS_USER", "MAIL" };

/* The error of a look that found nothing; 0 where this says that there is no such user
 * (getpwnam(3)). */
static int find_failure(void)
{
	return errno == ENOENT || errno == ESRCH || errno == EBADF || errno == EPERM ? 0 : -errno;
}

/* The entry of a name or a number; NULL where there is none. A negative errno where that cannot be
 * found out. */
static int find_entry(const char *name, const struct passwd **ret)
{
	const struct passwd *entry;
	uint64_t uid;
	int r;

	errno = 0;
	entry = getpwnam(name);
	r = entry ? 0 : find_failure();
	if (!entry && r == 0 && parse_u64(name, 0, UINT32_MAX - 1, &uid) == 0) {
		errno = 0;
		entry = getpwuid((uid_t)uid);
		r = entry ? 0 : find_failure();
	}
	if (r == 0)
		*ret = entry;
	return r;
}

static const char *find_caller(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		const char *value = getenv(callers[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

/* The groups of the user, its own among them. */
static int find_groups(struct user *user)
{
	int room = GROUPS_FIRST, n;

	for (;;) {
		user->groups =
			xptr(reallocarray(user->groups, (size_t)room, sizeof(*user->groups)));
		n = room;
		if (getgrouplist(user->name, user->gid, user->groups, &n) >= 0)
			break;
		if (room >= GROUPS_MAX)
			return -E2BIG;
		room = MIN(MAX(n, 2 * room), GROUPS_MAX);
	}
	user->n_groups = (size_t)n;
	return 0;
}

static int find_own_groups(struct user *user)
{
	int n = getgroups(0, NULL);

	if (n < 0)
		return -errno;
	user->own_groups = xptr(calloc((size_t)n + 1, sizeof(*user->own_groups)));
	n = getgroups(n, user->own_groups);
	if (n < 0)
		return -errno;
	user->n_own_groups = (size_t)n;
	user->own_gid = getegid();
	return 0;
}

static int enter(const struct user *user)
{
	return become_effective(user->uid, user->gid, user->groups, user->n_groups);
}

static int leave(const struct user *user)
{
	return become_effective(0, user->own_gid, user->own_groups, user->n_own_groups);
}

static int fill(const struct passwd *entry, struct user *user)
{
	int r;

	user->uid = entry->pw_uid;
	user->gid = entry->pw_gid;
	user->name = xptr(strdup(entry->pw_name));
	user->home = xptr(strdup(entry->pw_dir));
	user->shell = xptr(strdup(entry->pw_shell));
	r = find_groups(user);
	return r < 0 ? r : find_own_groups(user);
}

int user_find(const char *name, struct user **ret)
{
	_cleanup_(user) struct user *user = NULL;
	const char *caller = find_caller();
	const struct passwd *entry;
	int r;

	if (geteuid() != 0 || getuid() != 0) {
		say("--user needs root: without it, the programs are run by whoever calls runpinned");
		return -EPERM;
	}
	if (!name && !caller) {
		say("--user: nobody has called sudo, pkexec or doas: give a name (--user=NAME)");
		return -EINVAL;
	}
	r = find_entry(name ? name : caller, &entry);
	if (r < 0) {
		say_errno(r, "cannot look '%s' up (--user)", name ? name : caller);
		return r == -EINVAL ? -EIO : r;
	}
	if (!entry) {
		say("--user: there is no user '%s'", name ? name : caller);
		return -EINVAL;
	}
	if (entry->pw_uid == 0) {
		say("--user: without this option, too, the programs are run as %s%s",
			entry->pw_name, name ? "" : ": give another name (--user=NAME)");
		return -EINVAL;
	}
	user = xptr(calloc(1, sizeof(*user)));
	r = fill(entry, user);
	if (r == 0)
		r = enter(user);
	if (r == 0)
		r = leave(user);
	if (r < 0) {
		say_errno(r, "cannot become %s (--user)", user->name);
		return r;
	}
	user->is_caller =
		caller && find_entry(caller, &entry) == 0 && entry && entry->pw_uid == user->uid;
	*ret = TAKE_PTR(user);
	return 0;
}

void user_free(struct user *user)
{
	if (!user)
		return;
	free(user->groups);
	free(user->own_groups);
	free(user->name);
	free(user->home);
	free(user->shell);
	free(user);
}

int user_take_place(const struct user *user)
{
	const struct {
		const char *name;
		const char *value;
	} variables[] = {
		{ "HOME", user->home },
		{ "USER", user->name },
		{ "LOGNAME", user->name },
		{ "SHELL", *user->shell ? user->shell : "/bin/sh" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		if (setenv(variables[i].name, variables[i].value, 1) < 0)
			return -errno;
	}
	for (size_t i = 0; i < ARRAY_SIZE(forgotten); i++)
		unsetenv(forgotten[i]);
	/* Whatever is open for root ends with execve(2): root's files are not the user's. */
	return file_close_at_exec_from(STDERR_FILENO + 1);
}

/* To go on would be to write the files of one with the rights of another. */
__attribute__((noreturn)) static void give_up(int error, const struct user *user)
{
	say_errno(error, "cannot change between root and %s (--user)", user->name);
	_exit(1);
}

void user_enter(const struct user *user)
{
	int r = user ? enter(user) : 0;

	if (r < 0)
		give_up(r, user);
}

void user_leave(const struct user *user)
{
	int r = user ? leave(user) : 0;

	if (r < 0)
		give_up(r, user);
}
