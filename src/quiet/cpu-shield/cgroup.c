// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/systemd/booted.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "quiet/cpu-shield/cgroup.h"
#include "quiet/cpu-shield/shield.h"
#include "quiet/engine/controller.h"
#include "quiet/engine/journal.h"

/* A slice below the shield's slice that ask_systemd_again() starts and stops. */
#define CHILD_UNIT "benchmark-ask.slice"

enum {
	/* systemd writes new settings to the cgroups after it has answered the reload; on a busy
	 * machine many seconds later. */
	SYSTEMD_SECONDS = 60,
	/* Enough for most machines. */
	SOON_SECONDS = 5,
	STEP_NS = 10 * 1000 * 1000,
};

static int copy_text(const char *text, char **ret)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int folder_read(const char *path, char **ret)
{
	struct stat st;

	bool is_there = lstat(path, &st) == 0;

	if (!is_there && errno != ENOENT)
		return -errno;
	return copy_text(is_there ? "present" : "absent", ret);
}

int folder_write(const char *path, const char *text)
{
	if (strcmp(text, "present") == 0)
		return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
	return rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* The value that a file has in a new cgroup. */
static const char *find_default(const char *path)
{
	static const struct {
		const char *file, *value;
	} defaults[] = {
		{ "/cpuset.cpus.partition", "member" },
		{ "/cpuset.sched_load_balance", "1" },
		{ "/cpuset.cpu_exclusive", "0" },
	};
	const char *file = strrchr(path, '/');

	for (size_t i = 0; file && i < ARRAY_SIZE(defaults); i++) {
		if (strcmp(file, defaults[i].file) == 0)
			return defaults[i].value;
	}
	return "";
}

bool cgroup_is_ours(const char *path)
{
	return text_starts_with(path, CGROUP_ROOT "/") && journal_path_is_ours(path);
}

int cgroup_read(const char *path, char **ret)
{
	int r = knob_read(NULL, path, ret);

	return r == -ENOENT ? copy_text(find_default(path), ret) : r;
}

/* Waits for systemd to make the file. Whether the file exists. */
static bool wait_for_file(const char *path)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + SYSTEMD_SECONDS * NSEC_PER_SEC;

	while (access(path, F_OK) < 0) {
		if (!systemd_is_booted() || clock_now_ns(CLOCK_MONOTONIC) >= end)
			return false;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
	}
	return true;
}

/* Waits until the knob has the wanted value; -EBUSY if it has not after that many seconds. */
static int wait_for_value(
	int (*read)(const char *, char **), const char *path, const char *wanted, int seconds)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC;

	for (;;) {
		bool over = clock_now_ns(CLOCK_MONOTONIC) >= end;
		_cleanup_free_ char *now = NULL;
		int r;

		r = read(path, &now);
		if (!now)
			return r;
		if (strcmp(now, wanted) == 0)
			return 0;
		if (over)
			return -EBUSY;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
	}
}

/*
 * Makes the kernel accept a partition that it has refused because another cgroup has some of the
 * CPUs in its cpuset.cpus, too.
 *
 * To write the CPUs to cpuset.cpus.exclusive (from 6.7 on), they need not be exclusive to this
 * cgroup. EINVAL only if another cgroup would have no CPU left, or has some of them in its own
 * cpuset.cpus.exclusive. A change of this file makes an invalid partition valid
 * (update_exclusive_cpumask() in 6.12). It has to come after the partition was asked for: in the
 * other order the partition is refused all the same (cpusets_are_exclusive()).
 */
static int claim_cpus(void)
{
	_cleanup_free_ char *state = NULL, *cpus = NULL, *claimed = NULL;
	int r;

	r = cgroup_read(SHIELD_PARTITION, &state);
	if (r < 0 || !strstr(state, " invalid") || !strstr(state, "not exclusive") ||
		access(SHIELD_EXCLUSIVE, F_OK) < 0)
		return r;
	r = cgroup_read(SHIELD_CPUS, &cpus);
	if (r == 0)
		r = cgroup_read(SHIELD_EXCLUSIVE, &claimed);
	/* The kernel ignores a write of the present value. */
	if (r == 0 && strcmp(claimed, cpus) == 0)
		r = knob_write(NULL, SHIELD_EXCLUSIVE, "");
	if (r == 0)
		r = knob_write(NULL, SHIELD_EXCLUSIVE, cpus);
	/* EINVAL is no error here: cpuset.cpus.partition still has the reason. */
	return r == -EINVAL ? 0 : r;
}

int cgroup_write(const char *path, const char *text)
{
	bool partition = strcmp(path, SHIELD_PARTITION) == 0 && strcmp(text, "isolated") == 0;
	_cleanup_free_ char *now = NULL;
	int r;

	r = cgroup_read(path, &now);
	if (r < 0)
		return r;
	if (strcmp(now, text) == 0)
		return 0;
	/* Without systemd, somebody has removed the cgroup. With systemd, -ENOENT would mean that
	 * this machine has no such knob, but systemd has failed to make the cgroup. */
	if (strcmp(text, find_default(path)) != 0 && !wait_for_file(path))
		return systemd_is_booted() ? -ETIMEDOUT : -ENOENT;
	/* An invalid partition, also one that is to be put back, has to be asked for again. The
	 * kernel ignores a write of the present word, and up to 6.1 it does not check an invalid
	 * partition again, either (update_prstate()). So "member" is written first. */
	if (strstr(text, " invalid") || (strstr(now, " invalid") && strcmp(text, "member") != 0))
		r = knob_write(NULL, path, "member");
	if (text_starts_with(text, "isolated "))
		text = "isolated";
	if (text_starts_with(text, "root "))
		text = "root";
	if (r == 0)
		r = knob_write(NULL, path, text);
	if (r == 0 && partition)
		return claim_cpus();
	/* The kernel does not take the last CPU from a cgroup that has programs. */
	return r == -ENOSPC && shield_check_empty() == -EBUSY ? -EBUSY : r;
}

/*
 * Makes systemd write the settings of the slice to its cgroup again. On a reload, systemd 257
 * writes nothing to the cgroup of a slice that already existed before something in that slice is
 * started (seen). So this starts a slice below it.
 */
static int ask_systemd_again(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	r = systemd_open(&manager);
	if (r == 0)
		r = systemd_reload(manager);
	if (r == 0)
		r = systemd_start_unless_conflict(manager, CHILD_UNIT);
	return r == 0 ? systemd_stop(manager, CHILD_UNIT) : r;
}

/* Waits until systemd has applied its settings. Asks it again only if the cgroup of the slice
 * exists, because asking would start the slice. */
static int wait_for_slice(int (*read)(const char *, char **), const char *path, const char *wanted)
{
	int r;

	r = wait_for_value(read, path, wanted, SOON_SECONDS);
	if (r != -EBUSY)
		return r;
	if (access(SHIELD_CGROUP, F_OK) == 0) {
		r = ask_systemd_again();
		if (r < 0)
			return r;
	}
	return wait_for_value(read, path, wanted, SYSTEMD_SECONDS);
}

/* 0 also if the value did not come: the engine then reads the file, with the kernel's reason. */
static int wait_for_systemd(const char *path, const char *text)
{
	_cleanup_free_ char *now = NULL;
	int r;

	r = cgroup_read(path, &now);
	if (r < 0)
		return r;
	if (!strstr(now, " invalid")) {
		r = wait_for_value(cgroup_read, path, text, SOON_SECONDS);
		if (r != -EBUSY)
			return r;
	}
	r = ask_systemd_again();
	if (r < 0)
		return r;
	/* A short wait: systemd writes the partition right after the CPUs, which are there by now.
	 */
	r = wait_for_value(cgroup_read, path, text,
		strcmp(path, SHIELD_PARTITION) == 0 ? SOON_SECONDS : SYSTEMD_SECONDS);
	if (r == -EBUSY && strcmp(path, SHIELD_PARTITION) == 0 && strcmp(text, "isolated") == 0)
		return claim_cpus();
	return r == -EBUSY ? 0 : r;
}

int watched_write(const char *path, const char *text)
{
	int r;

	if (strcmp(text, find_default(path)) != 0)
		return wait_for_systemd(path, text);
	/* When the setting is removed, systemd leaves the partition alone (src/core/cgroup.c in
	 * 262). */
	if (strcmp(path, SHIELD_PARTITION) == 0)
		return cgroup_write(path, text);
	r = shield_check_empty();
	return r < 0 ? r : wait_for_slice(cgroup_read, path, text);
}

int awaited_controller_write(const char *name, const char *text)
{
	int r;

	if (!systemd_is_booted())
		return controller_write(name, text);
	r = strcmp(text, CONTROLLER_DISABLED) == 0 ? shield_check_empty() : 0;
	return r < 0 ? r : wait_for_slice(controller_read, name, text);
}
