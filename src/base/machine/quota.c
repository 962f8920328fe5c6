// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/machine/isolation.h"
#include "base/machine/mountinfo.h"
#include "base/machine/quota.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

#define CGROUP_DIR "/sys/fs/cgroup"

/* --- The cgroup. --- */

/* What is below the cgroup `root`, which is mounted somewhere; NULL when `path` is not. */
static const char *find_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (strcmp(root, "/") == 0)
		return path;
	return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0') ? path + n : NULL;
}

/* Takes the mount if the cgroup is visible there: 1, 0 if it is not, -ENOMEM. */
static int try_mount(const char *mount, const char *path, struct quota_cgroup *cgroup)
{
	_cleanup_free_ char *directory = NULL, *own_mount = NULL, *own_path = NULL;
	const char *below = strcmp(path, "/") == 0 ? "" : path;

	if (text_format(&directory, "%s%s", mount, below) < 0)
		return -ENOMEM;
	if (access(directory, F_OK) < 0)
		return 0;
	own_mount = strdup(mount);
	own_path = strdup(below);
	if (!own_mount || !own_path)
		return -ENOMEM;
	cgroup->mount = TAKE_PTR(own_mount);
	cgroup->path = TAKE_PTR(own_path);
	return 1;
}

/* The same for each mount of the hierarchy. -ENOENT where one shows cgroups outside of our cgroup
 * namespace: those of ours have other names there. */
static int try_mounts(const struct isolation_cpuset *home, struct quota_cgroup *cgroup)
{
	_cleanup_free_ char *text = NULL;
	bool is_outside = false;
	char *line, *rest;
	int r;

	r = file_read_all("/proc/self/mountinfo", MOUNTINFO_MAX, &text, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (rest = text, r = 0; r == 0 && (line = strsep(&rest, "\n"));) {
		struct mountinfo_cgroup mount;
		const char *below;

		if (!mountinfo_parse_cgroup(line, home->v1 ? "cpu" : NULL, &mount))
			continue;
		below = find_below(home->path, mount.root);
		if (below)
			r = try_mount(mount.point, below, cgroup);
		is_outside = is_outside || text_starts_with(mount.root, "/..");
	}
	return r == 0 && is_outside ? -ENOENT : r;
}

/* Where it usually is: a recorded machine has its files there, and the mounts of this one. */
static int try_usual(const struct isolation_cpuset *home, struct quota_cgroup *cgroup)
{
	_cleanup_free_ char *v1 = NULL;
	const char *mount;

	if (home->v1 && text_format(&v1, CGROUP_DIR "/%s", home->controllers) < 0)
		return -ENOMEM;
	mount = v1 ? v1 : isolation_find_v2_mount();
	return mount ? try_mount(mount, home->path, cgroup) : 0;
}

/* Only the root of a hierarchy lacks (v2) or has (v1) these files (kernel/cgroup/cgroup.c,
 * cgroup-v1.c: CFTYPE_NOT_ON_ROOT, CFTYPE_ONLY_ON_ROOT). */
static int find_whether_whole(struct quota_cgroup *cgroup)
{
	_cleanup_free_ char *file = NULL;

	if (text_format(&file, "%s/%s", cgroup->mount,
		    cgroup->controllers ? "cgroup.sane_behavior" : "cgroup.type") < 0)
		return -ENOMEM;
	cgroup->is_whole = (access(file, F_OK) == 0) == (cgroup->controllers != NULL);
	return 0;
}

int quota_find_cgroup(pid_t pid, struct quota_cgroup *ret)
{
	struct isolation_cpuset home = { 0 };
	struct quota_cgroup cgroup = { 0 };
	_cleanup_free_ char *text = NULL;
	int r;

	r = isolation_read_cgroup(pid, &text);
	if (r == -ENOENT && access("/proc/self/cgroup", F_OK) < 0 &&
		access("/proc/self/stat", F_OK) == 0)
		return -ENODATA;
	if (r < 0)
		return r;
	r = isolation_parse_cgroup_of(text, "cpu", &home);
	/* The cgroup lies outside of our cgroup namespace. */
	if (r == -ENODATA && strstr(text, "/.."))
		return -ENOENT;
	if (r < 0)
		return r;
	r = try_mounts(&home, &cgroup);
	if (r == 0)
		r = try_usual(&home, &cgroup);
	if (r == 0)
		r = -ENOENT;
	if (r > 0) {
		cgroup.controllers = TAKE_PTR(home.controllers);
		r = find_whether_whole(&cgroup);
	}
	isolation_cpuset_clear(&home);
	if (r < 0) {
		quota_cgroup_clear(&cgroup);
		return r;
	}
	*ret = cgroup;
	return 0;
}

void quota_cgroup_clear(struct quota_cgroup *cgroup)
{
	free(cgroup->controllers);
	free(cgroup->mount);
	free(cgroup->path);
	*cgroup = (struct quota_cgroup){ 0 };
}

/* --- Texts. --- */

static int divide(uint64_t quota, uint64_t period, double *ret)
{
	if (quota == 0 || period == 0)
		return -EINVAL;
	*ret = (double)quota / (double)period;
	return 1;
}

int quota_parse_max(const char *text, double *ret)
{
	uint64_t quota, period;
	bool is_max = text_starts_with(text, "max ");

	if (is_max)
		text += strlen("max ");
	else if (parse_next_u64(&text, &quota) < 0 || *text != ' ')
		return -EINVAL;
	if (parse_next_u64(&text, &period) < 0 || *text)
		return -EINVAL;
	return is_max ? 0 : divide(quota, period, ret);
}

int quota_parse_cfs(const char *quota, const char *period, double *ret)
{
	int64_t value;
	uint64_t length;

	if (parse_attr_s64(quota, &value) < 0 || parse_attr_u64(period, &length) < 0)
		return -EINVAL;
	return value < 0 ? 0 : divide((uint64_t)value, length, ret);
}

int quota_parse_stat(const char *text, int64_t *ret)
{
	static const struct {
		const char *key;
		uint64_t ns;
	} keys[] = {
		{ "throttled_usec ", NSEC_PER_USEC }, /* v2 */
		{ "throttled_time ", 1 },	      /* v1 */
	};

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			const char *at = line + strlen(keys[i].key);
			uint64_t value;

			if (!text_starts_with(line, keys[i].key))
				continue;
			if (parse_next_u64(&at, &value) < 0 || (*at && *at != '\n') ||
				value > INT64_MAX / keys[i].ns)
				return -ENODATA;
			*ret = (int64_t)(value * keys[i].ns);
			return 0;
		}
	}
	return -ENODATA;
}

const char *quota_format(double cpus, char buf[QUOTA_TEXT_SIZE])
{
	snprintf(buf, QUOTA_TEXT_SIZE, "%g CPUs", cpus);
	return buf;
}

/* --- The files. --- */

/* Reads the limit of one cgroup, and the file that has it: 1, 0 where it has none, or a negative
 * errno. */
static int read_limit(const char *directory, bool v1, double *ret, char **ret_file)
{
	_cleanup_free_ char *file = NULL, *period_file = NULL;
	char text[FILE_ATTR_SIZE], period[FILE_ATTR_SIZE];
	int r;

	if (text_format(&file, "%s/%s", directory, v1 ? "cpu.cfs_quota_us" : "cpu.max") < 0 ||
		text_format(&period_file, "%s/cpu.cfs_period_us", directory) < 0)
		return -ENOMEM;
	r = file_read_line(AT_FDCWD, file, text, sizeof(text));
	/* The root of v2, or a cgroup for which the controller is not enabled. */
	if (r == -ENOENT)
		return 0;
	if (r >= 0 && v1)
		r = file_read_line(AT_FDCWD, period_file, period, sizeof(period));
	if (r < 0)
		return r;
	r = v1 ? quota_parse_cfs(text, period, ret) : quota_parse_max(text, ret);
	if (r > 0)
		*ret_file = TAKE_PTR(file);
	return r;
}

/* Whether the file tells how long a cgroup was throttled. A cgroup of v2 for which the controller
 * is not enabled has the file, too. */
static bool tells(const char *file)
{
	char text[FILE_ATTR_SIZE];
	int64_t ns;

	return file_read_attr(AT_FDCWD, file, text, sizeof(text)) >= 0 &&
		quota_parse_stat(text, &ns) == 0;
}

struct levels {
	struct quota *quota;
	char *local; /* the cpu.stat.local of the lowest cgroup that has one */
	size_t n_limits;
};

static int add_limit(struct levels *levels, const char *directory, double cpus, char *file)
{
	_cleanup_free_ char *limit = file, *stat = NULL;

	if (text_format(&stat, "%s/cpu.stat", directory) < 0)
		return -ENOMEM;
	if (cpus < levels->quota->cpus) {
		levels->quota->cpus = cpus;
		free(levels->quota->limit);
		levels->quota->limit = TAKE_PTR(limit);
	}
	levels->n_limits++;
	if (levels->quota->n_stats < QUOTA_STATS_MAX && tells(stat))
		levels->quota->stats[levels->quota->n_stats++] = TAKE_PTR(stat);
	return 0;
}

static int add_level(struct levels *levels, const char *directory, bool v1)
{
	char *file = NULL;
	double cpus;
	int r;

	if (!levels->local) {
		_cleanup_free_ char *local = NULL;

		if (text_format(&local, "%s/cpu.stat.local", directory) < 0)
			return -ENOMEM;
		if (tells(local))
			levels->local = TAKE_PTR(local);
	}
	r = read_limit(directory, v1, &cpus, &file);
	if (r > 0)
		return add_limit(levels, directory, cpus, file);
	if (r < 0 && r != -ENOMEM)
		levels->quota->is_hidden = true;
	return r == -ENOMEM ? r : 0;
}

/* Takes the one file that tells all, or those of all limits that can be seen. */
static void choose_stats(struct levels *levels)
{
	struct quota *quota = levels->quota;

	if (levels->n_limits == 0 && !quota->is_hidden)
		return;
	if (levels->local || quota->n_stats != levels->n_limits) {
		while (quota->n_stats > 0)
			free(quota->stats[--quota->n_stats]);
	}
	if (levels->local)
		quota->stats[quota->n_stats++] = TAKE_PTR(levels->local);
}

/* Reads all cgroups from this one up to what is mounted. */
static int read_levels(const struct quota_cgroup *cgroup, struct quota *quota)
{
	_cleanup_free_ char *directory = NULL;
	struct levels levels = { .quota = quota };
	size_t top = strlen(cgroup->mount);
	int r;

	if (text_format(&directory, "%s%s", cgroup->mount, cgroup->path) < 0)
		return -ENOMEM;
	do {
		char *slash = strrchr(directory + top, '/');

		r = add_level(&levels, directory, cgroup->controllers);
		if (!slash)
			break;
		*slash = '\0';
	} while (r == 0);
	if (r == 0)
		choose_stats(&levels);
	free(levels.local);
	return r;
}

int quota_read(pid_t pid, struct quota *ret)
{
	struct quota quota = { .cpus = INFINITY };
	struct quota_cgroup cgroup = { 0 };
	int r;

	r = quota_find_cgroup(pid, &cgroup);
	quota.is_hidden = r == 0 ? !cgroup.is_whole : r != -ENODATA;
	if (r == 0)
		r = read_levels(&cgroup, &quota);
	quota_cgroup_clear(&cgroup);
	if (r == -ENOMEM) {
		quota_clear(&quota);
		return r;
	}
	*ret = quota;
	return 0;
}

void quota_clear(struct quota *quota)
{
	free(quota->limit);
	for (size_t i = 0; i < quota->n_stats; i++)
		free(quota->stats[i]);
	*quota = (struct quota){ 0 };
}
