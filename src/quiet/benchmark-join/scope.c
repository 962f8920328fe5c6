// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/isolation.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/wait.h"
#include "base/where/running.h"
#include "quiet/benchmark-join/limits.h"
#include "quiet/benchmark-join/scope.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

enum {
	/* When the last process of a scope has ended, the scope cannot be used or made anew until
	 * systemd has removed it. runpinned waits longer than this for the answer. */
	SCOPE_SECONDS = 30,
	STEP_MS = 10,
	LONGEST_STEP_MS = 500,
};

/* A slice that a process moves into. */
struct slice {
	char name[64]; /* empty: there is none */
	char path[192];
	struct limits limits;
};

struct scope {
	struct slice of_user;
	struct slice delegated; /* for what comes from a cgroup that is not root's */
	char name[128], description[64];
	char path[320];
	struct limits limits; /* of the cgroup that the process comes from */
};

/* The slice that the scope is in. */
static const struct slice *find_slice(const struct scope *scope)
{
	return *scope->delegated.name ? &scope->delegated : &scope->of_user;
}

/* The path of the process's cgroup as in /proc/PID/cgroup, malloc'd. */
static int read_cgroup(const struct peer *peer, char **ret)
{
	struct isolation_cpuset cpuset = { 0 };
	_cleanup_free_ char *text = NULL;
	int r;

	r = peer_read(peer, "cgroup", &text);
	if (r < 0)
		return r;
	r = isolation_parse_cgroup(text, &cpuset);
	if (r == 0 && cpuset.v1)
		r = -EOPNOTSUPP;
	if (r == 0)
		*ret = TAKE_PTR(cpuset.path);
	isolation_cpuset_clear(&cpuset);
	return r;
}

static bool is_inside(const char *cgroup)
{
	return text_starts_with(cgroup, "/" TARGET_SLICE "/");
}

/* Cuts the path of a cgroup behind the topmost one that is not root's; 1, and its inode number; 0
 * where all are root's. */
static int find_delegated(char *path, ino_t *ret)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *whole = NULL;
		struct stat st;

		if (slash)
			*slash = '\0';
		if (text_format(&whole, CGROUP_ROOT "%s", path) < 0)
			return -ENOMEM;
		if (stat(whole, &st) < 0)
			return -errno;
		*ret = st.st_ino;
		if (st.st_uid != 0)
			return 1;
		if (!slash)
			return 0;
		*slash = '/';
	}
}

/* The slice for all that comes from the delegated cgroup which holds this one, if there is one. */
static int find_delegated_slice(const struct peer *peer, const char *origin, struct scope *scope)
{
	struct slice *slice = &scope->delegated;
	_cleanup_free_ char *path = strdup(origin);
	ino_t inode = 0;
	int r;

	if (!path)
		return -ENOMEM;
	r = find_delegated(path, &inode);
	if (r <= 0)
		return r;
	snprintf(slice->name, sizeof(slice->name), "benchmark-%u-%llu.slice", (unsigned)peer->uid,
		(unsigned long long)inode);
	snprintf(slice->path, sizeof(slice->path), "%.100s/%s", scope->of_user.path, slice->name);
	return limits_read(CGROUP_ROOT, path, &slice->limits);
}

/* 1 with the scope to which the process is to move, 0 when it is in benchmark.slice already. */
static int find_scope(const struct peer *peer, struct scope *ret)
{
	_cleanup_free_ char *origin = NULL, *path = NULL;
	struct scope scope = { 0 };
	struct stat st;
	int r;

	r = read_cgroup(peer, &origin);
	if (r < 0)
		return r;
	if (is_inside(origin))
		return 0;
	r = limits_read(CGROUP_ROOT, origin, &scope.limits);
	if (r < 0)
		return r;
	if (text_format(&path, CGROUP_ROOT "%s", origin) < 0)
		return -ENOMEM;
	if (stat(path, &st) < 0)
		return -errno;
	snprintf(scope.of_user.name, sizeof(scope.of_user.name), "benchmark-%u.slice",
		(unsigned)peer->uid);
	snprintf(scope.of_user.path, sizeof(scope.of_user.path), TARGET_CGROUP "/%s",
		scope.of_user.name);
	r = find_delegated_slice(peer, origin, &scope);
	if (r < 0)
		return r;
	snprintf(scope.name, sizeof(scope.name), "benchmark-%u-%llu.scope", (unsigned)peer->uid,
		(unsigned long long)st.st_ino);
	snprintf(scope.description, sizeof(scope.description), "Benchmarks of user %u",
		(unsigned)peer->uid);
	snprintf(scope.path, sizeof(scope.path), "%s/%s", find_slice(&scope)->path, scope.name);
	*ret = scope;
	return 1;
}

/* Lists the limits that are not LIMIT_NONE. */
static size_t list_numbers(
	const struct limits *limits, struct systemd_number ret[static LIMIT_COUNT])
{
	size_t n = 0;

	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		if (limits->values[limit] != LIMIT_NONE)
			ret[n++] = (struct systemd_number){ limits_property(limit),
				limits->values[limit] };
	}
	return n;
}

/* The limits of all processes of the user together. systemd also tells them for a user who is not
 * logged in. */
static int read_limits_of_user(struct systemd *manager, const struct peer *peer, struct limits *ret)
{
	struct limits limits = limits_none;
	char slice[64];
	const char *const units[] = { "user.slice", slice };
	int r;

	snprintf(slice, sizeof(slice), "user-%u.slice", (unsigned)peer->uid);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
			uint64_t value;

			r = systemd_read_number(manager, units[i], limits_property(limit), &value);
			if (r < 0)
				return r;
			limits_narrow(&limits, limit, value);
		}
	}
	*ret = limits;
	return 0;
}

/* Starts a slice, which stays until benchmark.slice ends. */
static int start_slice(struct systemd *manager, const struct slice *slice, const char *description)
{
	struct systemd_number numbers[LIMIT_COUNT];
	const struct systemd_new unit = {
		.name = slice->name,
		.description = description,
		.numbers = numbers,
		.n_numbers = list_numbers(&slice->limits, numbers),
	};
	int r;

	r = systemd_start_slice(manager, &unit);
	/* The slice has a unit file, written by an administrator: its limits are used. */
	return r == -EEXIST ? systemd_start(manager, slice->name) : r;
}

static int start_slices(struct systemd *manager, const struct peer *peer, struct scope *scope)
{
	int r = 0;

	if (access(scope->of_user.path, F_OK) < 0) {
		r = read_limits_of_user(manager, peer, &scope->of_user.limits);
		if (r == 0)
			r = start_slice(manager, &scope->of_user, scope->description);
	}
	if (r == 0 && *scope->delegated.name && access(scope->delegated.path, F_OK) < 0)
		r = start_slice(manager, &scope->delegated, scope->description);
	return r;
}

/* -EDQUOT if the process does not fit into the limit of tasks of the cgroup. The kernel checks this
 * limit only on fork, not when a process is moved (Documentation/admin-guide/cgroup-v2.rst); a user
 * could then fork in the old cgroup and move the processes again and again. */
static int check_room(const char *cgroup, uint64_t threads)
{
	struct limits limits;
	char path[400];
	uint64_t now;
	int r;

	snprintf(path, sizeof(path), "%s/pids.current", cgroup);
	r = limits_read(cgroup, "", &limits);
	if (r == 0)
		r = file_read_attr_u64(AT_FDCWD, path, &now);
	/* The cgroup does not exist yet, or has no pids controller and so no limit. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	return now + threads > limits.values[LIMIT_TASKS] ? -EDQUOT : 0;
}

static int enter_scope(struct systemd *manager, const struct peer *peer, const struct scope *scope)
{
	struct systemd_number numbers[LIMIT_COUNT];
	const struct systemd_new unit = {
		.name = scope->name,
		.slice = find_slice(scope)->name,
		.description = scope->description,
		.numbers = numbers,
		.n_numbers = list_numbers(&scope->limits, numbers),
		.shared = true,
	};
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + SCOPE_SECONDS * NSEC_PER_SEC,
		STEP_MS * NSEC_PER_MSEC, LONGEST_STEP_MS * NSEC_PER_MSEC);
	int r;

	do {
		/* systemd may be given a PID, which may be used again once the process ends: so
		 * check as late as possible. */
		r = peer_check_alive(peer);
		if (r < 0)
			return r;
		if (access(scope->path, F_OK) == 0) {
			r = systemd_attach(manager, scope->name, peer->pid);
		} else {
			r = systemd_start_scope(manager, &unit, peer->pid, peer->pidfd);
			if (r != -EEXIST)
				return r;
		}
	} while (r < 0 && wait_step(&wait));
	return r;
}

/* Whether a process that enter_scope() failed to move is inside all the same: systemd may have
 * moved it, or move it later, if its answer did not arrive. */
static int judge_failure(struct systemd *manager, const struct peer *peer, int r, bool *ret_unknown)
{
	_cleanup_free_ char *cgroup = NULL;

	if (r == -ESRCH || systemd_has_answered(manager))
		return r;
	if (read_cgroup(peer, &cgroup) == 0 && is_inside(cgroup))
		return 0;
	*ret_unknown = true;
	return r;
}

/* systemd says that it has moved the process. */
static int judge_success(const struct peer *peer, bool *ret_unknown)
{
	_cleanup_free_ char *cgroup = NULL;
	int r = read_cgroup(peer, &cgroup);

	/* Else the cgroup may be that of a process with the same PID. */
	if (r == 0)
		r = peer_check_alive(peer);
	*ret_unknown = r < 0 && r != -ESRCH;
	return r < 0 ? r : is_inside(cgroup) ? 0 : -EXDEV;
}

int scope_move(struct systemd *manager, const struct peer *peer, bool *ret_unknown)
{
	_cleanup_free_ char *status = NULL;
	struct scope scope;
	uint64_t threads;
	int r;

	r = find_scope(peer, &scope);
	if (r <= 0)
		return r;
	r = peer_read(peer, "status", &status);
	if (r == 0)
		r = peer_parse_threads(status, &threads);
	if (r == 0)
		r = start_slices(manager, peer, &scope);
	if (r == 0)
		r = check_room(scope.of_user.path, threads);
	if (r == 0 && *scope.delegated.name)
		r = check_room(scope.delegated.path, threads);
	if (r == 0)
		r = check_room(scope.path, threads);
	if (r < 0)
		return r;
	r = enter_scope(manager, peer, &scope);
	return r < 0 ? judge_failure(manager, peer, r, ret_unknown)
		     : judge_success(peer, ret_unknown);
}
