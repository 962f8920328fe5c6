// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/isolation.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/paths.h"
#include "base/systemd/booted.h"
#include "base/text.h"
#include "base/wait.h"
#include "measure/serve/group.h"

enum {
	FREEZE_SECONDS = 2,
	FIRST_STEP_NS = 50 * 1000,
	LAST_STEP_NS = 5 * 1000 * 1000,
	STAT_SIZE = 4096,
};

struct group {
	char *folder;
};

/* Whether the cgroup is ours to make others in. An ordinary user is refused by its files. */
static bool is_ours(const char *folder)
{
	static const char *const names[] = { "trusted.delegate", "user.delegate" };
	char value[4];

	if (geteuid() != 0 || !systemd_is_booted())
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (getxattr(folder, names[i], value, sizeof(value)) == 1 && value[0] == '1')
			return true;
	return false;
}

/* The folder of our own cgroup, malloc'd. */
static int find_own(char **ret)
{
	const char *mount = isolation_find_v2_mount();
	_cleanup_free_ char *text = NULL;
	struct isolation_cpuset own = { 0 };
	int r = mount ? isolation_read_cgroup(0, &text) : -ENOENT;

	if (r == 0)
		r = isolation_parse_cgroup_of(text, NULL, &own);
	if (r < 0)
		return r == -ENODATA ? -ENOENT : r;
	r = text_format(ret, "%s%s", mount, strcmp(own.path, "/") == 0 ? "" : own.path);
	isolation_cpuset_clear(&own);
	return r;
}

int group_make(struct group **ret)
{
	static unsigned n_made;
	_cleanup_free_ char *own = NULL, *folder = NULL;
	_cleanup_(group) struct group *group = NULL;
	int r = find_own(&own);

	if (r < 0)
		return r;
	if (!is_ours(own))
		return -EPERM;
	r = text_format(&folder, "%s/runserved-%d-%u", own, getpid(), n_made++);
	if (r < 0)
		return r;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	if (mkdir(folder, 0755) < 0)
		return -errno;
	group->folder = TAKE_PTR(folder);
	*ret = TAKE_PTR(group);
	return 0;
}

const char *group_get_folder(const struct group *group)
{
	return group->folder;
}

static int write_file(const struct group *group, const char *name, const char *value)
{
	_cleanup_free_ char *path = NULL;

	return text_format(&path, "%s/%s", group->folder, name) < 0 ? -ENOMEM
								    : file_write_attr(path, value);
}

static int read_file(const struct group *group, const char *name, char text[STAT_SIZE])
{
	_cleanup_free_ char *path = NULL;
	int r = text_format(&path, "%s/%s", group->folder, name);

	if (r == 0)
		r = file_read_attr(AT_FDCWD, path, text, STAT_SIZE);
	return r < 0 ? r : 0;
}

int group_enter(const struct group *group)
{
	return write_file(group, "cgroup.procs", "0");
}

bool group_is_frozen(const char *text)
{
	return text_has_word(text, "frozen 1", "\n");
}

int group_freeze(const struct group *group, bool freeze)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + FREEZE_SECONDS * NSEC_PER_SEC,
		FIRST_STEP_NS, LAST_STEP_NS);
	char text[STAT_SIZE];
	int r = write_file(group, "cgroup.freeze", freeze ? "1" : "0");

	if (r < 0 || !freeze)
		return r;
	do {
		r = read_file(group, "cgroup.events", text);
		if (r < 0 || group_is_frozen(text))
			return r;
	} while (wait_step(&wait));
	return -ETIME;
}

/* The number of a line, in nanoseconds; -1 where there is none. */
static int64_t find_time(const char *text, const char *key)
{
	const char *found = strstr(text, key);
	uint64_t usec;

	if (!found)
		return -1;
	found += strlen(key);
	return parse_next_u64(&found, &usec) < 0 || usec > INT64_MAX / NSEC_PER_USEC
		? -1
		: (int64_t)usec * NSEC_PER_USEC;
}

int group_parse_stat(const char *text, struct group_cpu *ret)
{
	/* It is the first line since Linux 4.15. */
	const struct group_cpu cpu = {
		.ns = text_starts_with(text, "usage_usec ") ? find_time(text, "usage_usec ") : -1,
		.user_ns = find_time(text, "\nuser_usec "),
		.system_ns = find_time(text, "\nsystem_usec "),
	};

	if (cpu.ns < 0)
		return -ENODATA;
	*ret = cpu;
	return 0;
}

int group_read_cpu(const struct group *group, struct group_cpu *ret)
{
	char text[STAT_SIZE];
	int r = read_file(group, "cpu.stat", text);

	return r < 0 ? r : group_parse_stat(text, ret);
}

void group_free(struct group *group)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + FREEZE_SECONDS * NSEC_PER_SEC,
		FIRST_STEP_NS, LAST_STEP_NS);

	if (!group)
		return;
	/* Mostly the keeper has done it. Where somebody has killed that one, what it has kept is
	 * here alone, may be frozen, and would stay so. */
	while (group->folder && access(group->folder, F_OK) == 0) {
		(void)write_file(group, "cgroup.kill", "1");
		paths_remove(group->folder);
		if (!wait_step(&wait))
			break;
	}
	free(group->folder);
	free(group);
}
