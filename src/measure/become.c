// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/become.h"

/* Where user numbers once had 16 bits, the calls with 32 have names of their own. */
#ifdef SYS_setresuid32
#define SET_USERS SYS_setresuid32
#define SET_GROUP SYS_setresgid32
#define SET_GROUPS SYS_setgroups32
#else
#define SET_USERS SYS_setresuid
#define SET_GROUP SYS_setresgid
#define SET_GROUPS SYS_setgroups
#endif

#define AS_IT_IS ((uid_t)-1)

int become_user(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups)
{
	if (syscall(SET_GROUPS, n_groups, groups) < 0 || syscall(SET_GROUP, gid, gid, gid) < 0 ||
		syscall(SET_USERS, uid, uid, uid) < 0)
		return -errno;
	return 0;
}

int become_effective(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups)
{
	/* Only user 0 may set the groups: they change before it is left, and after it is back. */
	if (uid == 0 && syscall(SET_USERS, AS_IT_IS, uid, AS_IT_IS) < 0)
		return -errno;
	if (syscall(SET_GROUPS, n_groups, groups) < 0 ||
		syscall(SET_GROUP, AS_IT_IS, gid, AS_IT_IS) < 0)
		return -errno;
	if (uid != 0 && syscall(SET_USERS, AS_IT_IS, uid, AS_IT_IS) < 0)
		return -errno;
	return 0;
}
