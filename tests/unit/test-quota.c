// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine/quota.h"
#include "base/macro.h"
#include "look/recording/mounts.h"

#define CGROUPS "/sys/fs/cgroup"

enum {
	EXIT_SKIP = 77,
	FILES_MAX = 16,
};

static void assert_cpus(int r, double cpus, int wanted_r, double wanted)
{
	assert_int_equal(r, wanted_r);
	assert_true(fabs(cpus - (wanted_r > 0 ? wanted : -7)) < 1e-12);
}

static void test_max(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		double cpus;
	} cases[] = {
		{ "20000 100000", 1, 0.2 },
		{ "250000 100000", 1, 2.5 },
		{ "1000 1000000", 1, 0.001 },
		{ "max 100000", 0, 0 },
		{ "", -EINVAL, 0 },
		{ "max", -EINVAL, 0 },
		{ "max ", -EINVAL, 0 },
		{ "maximum 5", -EINVAL, 0 },
		{ "20000", -EINVAL, 0 },
		{ "20000 ", -EINVAL, 0 },
		{ "20000 x", -EINVAL, 0 },
		{ "20000 100000 7", -EINVAL, 0 },
		{ "-1 100000", -EINVAL, 0 },
		{ "0 100000", -EINVAL, 0 },
		{ "20000 0", -EINVAL, 0 },
		{ "99999999999999999999 100000", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double cpus = -7;
		int r = quota_parse_max(cases[i].text, &cpus);

		fprintf(stderr, "'%s'\n", cases[i].text);
		assert_cpus(r, cpus, cases[i].r, cases[i].cpus);
	}
}

static void test_cfs(_unused_ void **state)
{
	static const struct {
		const char *quota, *period;
		int r;
		double cpus;
	} cases[] = {
		{ "20000", "100000", 1, 0.2 },
		{ "-1", "100000", 0, 0 },
		{ "0", "100000", -EINVAL, 0 },
		{ "20000", "0", -EINVAL, 0 },
		{ "20000", "", -EINVAL, 0 },
		{ "20000", "-5", -EINVAL, 0 },
		{ "", "100000", -EINVAL, 0 },
		{ "max", "100000", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double cpus = -7;
		int r = quota_parse_cfs(cases[i].quota, cases[i].period, &cpus);

		assert_cpus(r, cpus, cases[i].r, cases[i].cpus);
	}
}

static void test_stat(_unused_ void **state)
{
	static const struct {
		const char *text;
		int64_t ns; /* -1: it tells none */
	} cases[] = {
		{ "nr_periods 9\nnr_throttled 9\nthrottled_time 665733503\nnr_bursts 0\n",
			665733503 },
		{ "usage_usec 1\nnr_throttled 9\nthrottled_usec 665733\n", 665733000 },
		{ "throttled_usec 0", 0 },
		{ "", -1 },
		{ "\n\n", -1 },
		{ "nr_throttled 9\n", -1 },
		{ "usage_usec 1\nuser_usec 1\n", -1 },
		{ "core_sched.throttled_usec 5\n", -1 },
		{ "throttled_usec\n", -1 },
		{ "throttled_usec x\n", -1 },
		{ "throttled_usec 5x\n", -1 },
		{ "throttled_usec -5\n", -1 },
		{ "throttled_usec 18446744073709551615\n", -1 },
		{ "throttled_time 18446744073709551615\n", -1 },
		{ "throttled_time 99999999999999999999\n", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t ns = -7;
		int r = quota_parse_stat(cases[i].text, &ns);

		fprintf(stderr, "'%s'\n", cases[i].text);
		assert_int_equal(r, cases[i].ns < 0 ? -ENODATA : 0);
		assert_int_equal(ns, cases[i].ns < 0 ? -7 : cases[i].ns);
	}
}

static void test_format(_unused_ void **state)
{
	static const struct {
		double cpus;
		const char *text;
	} cases[] = { { 0.2, "0.2 CPUs" }, { 2, "2 CPUs" }, { 1.0 / 3, "0.333333 CPUs" },
		{ 1e12, "1e+12 CPUs" } };
	char text[QUOTA_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(quota_format(cases[i].cpus, text), cases[i].text);
}

/* --- Machines. --- */

#define V2 "40 32 0:27 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n"
#define V1 "41 32 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
#define HYBRID V1 "42 32 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define NONE "throttled_usec 0\n"

struct scene {
	const char *name;
	const char *cgroup, *mountinfo; /* of the process */
	const struct {
		const char *path, *text; /* below /sys/fs/cgroup; folders are made */
	} files[FILES_MAX];
	double cpus; /* 0: no limit */
	const char *limit;
	bool is_hidden;
	const char *stats[QUOTA_STATS_MAX];
};

static const struct scene scenes[] = {
	{ "the root of v2", "0::/\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "cpu.stat", "usage_usec 5\n" } } },
	{ "no limit", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "max 100000\n" },
			{ "a/b/cpu.max", "max 100000\n" }, { "a/b/cpu.stat.local", NONE } } },
	{ "a limit", "0::/a\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat", NONE } },
		0.2, "a/cpu.max", false, { "a/cpu.stat" } },
	{ "the limit of the parent", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat", NONE }, { "a/b/cpu.max", "max 100000\n" },
			{ "a/b/cpu.stat", NONE } },
		0.2, "a/cpu.max", false, { "a/cpu.stat" } },
	{ "the same, and Linux 6.7", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat", NONE }, { "a/cpu.stat.local", NONE },
			{ "a/b/cpu.max", "max 100000\n" }, { "a/b/cpu.stat", NONE },
			{ "a/b/cpu.stat.local", NONE } },
		0.2, "a/cpu.max", false, { "a/b/cpu.stat.local" } },
	{ "the controller is not enabled for the child", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat.local", NONE }, { "a/b/cpu.stat", "usage_usec 5\n" },
			{ "a/b/cpu.stat.local", "" } },
		0.2, "a/cpu.max", false, { "a/cpu.stat.local" } },
	{ "two limits, the smaller one above", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat", NONE }, { "a/b/cpu.max", "50000 100000\n" },
			{ "a/b/cpu.stat", NONE } },
		0.2, "a/cpu.max", false, { "a/b/cpu.stat", "a/cpu.stat" } },
	{ "the kernel does not tell how long", "0::/a\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat", "usage_usec 5\n" } },
		0.2, "a/cpu.max", false, { NULL } },
	{ "a broken limit", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000\n" },
			{ "a/b/cpu.max", "max 100000\n" } },
		0, NULL, true, { NULL } },
	{ "a limit that was cut off", "0::/a/b\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "max 1" },
			{ "a/b/cpu.max", "max 100000\n" } },
		0, NULL, true, { NULL } },
	{ "v1", "3:cpu,cpuacct:/a/b\n0::/x\n", V1,
		{ { "cpu,cpuacct/cgroup.sane_behavior", "0\n" },
			{ "cpu,cpuacct/cpu.cfs_quota_us", "-1\n" },
			{ "cpu,cpuacct/cpu.cfs_period_us", "100000\n" },
			{ "cpu,cpuacct/a/cpu.cfs_quota_us", "20000\n" },
			{ "cpu,cpuacct/a/cpu.cfs_period_us", "100000\n" },
			{ "cpu,cpuacct/a/cpu.stat", "nr_throttled 0\nthrottled_time 0\n" },
			{ "cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n" },
			{ "cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n" },
			{ "cpu,cpuacct/a/b/cpu.stat", "nr_throttled 0\nthrottled_time 0\n" } },
		0.2, "cpu,cpuacct/a/cpu.cfs_quota_us", false, { "cpu,cpuacct/a/cpu.stat" } },
	{ "v1 without a period", "3:cpu,cpuacct:/a\n", V1,
		{ { "cpu,cpuacct/cgroup.sane_behavior", "0\n" },
			{ "cpu,cpuacct/a/cpu.cfs_quota_us", "20000\n" } },
		0, NULL, true, { NULL } },
	{ "hybrid, the controller in v1", "3:cpu,cpuacct:/a\n0::/b\n", HYBRID,
		{ { "cpu,cpuacct/cgroup.sane_behavior", "0\n" },
			{ "unified/cgroup.controllers", "\n" },
			{ "unified/b/cpu.max", "10000 100000\n" },
			{ "cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n" },
			{ "cpu,cpuacct/a/cpu.cfs_period_us", "100000\n" },
			{ "cpu,cpuacct/a/cpu.stat", "throttled_time 0\n" } },
		1.5, "cpu,cpuacct/a/cpu.cfs_quota_us", false, { "cpu,cpuacct/a/cpu.stat" } },
	{ "hybrid, the controller in v2", "3:cpuset:/a\n0::/b\n",
		"42 32 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		{ { "unified/cgroup.controllers", "cpu\n" },
			{ "unified/b/cpu.max", "10000 100000\n" }, { "unified/b/cpu.stat", NONE } },
		0.1, "unified/b/cpu.max", false, { "unified/b/cpu.stat" } },
	{ "a cgroup namespace, which is that of a limit", "0::/\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "cgroup.type", "domain\n" },
			{ "cpu.max", "30000 100000\n" }, { "cpu.stat", NONE } },
		0.3, "cpu.max", true, { "cpu.stat" } },
	{ "a cgroup namespace below a limit", "0::/\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "cgroup.type", "domain\n" },
			{ "cpu.max", "max 100000\n" }, { "cpu.stat", NONE } },
		0, NULL, true, { NULL } },
	{ "the same, and Linux 6.7", "0::/\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "cgroup.type", "domain\n" },
			{ "cpu.max", "max 100000\n" }, { "cpu.stat.local", NONE } },
		0, NULL, true, { "cpu.stat.local" } },
	{ "a cgroup namespace that sees the mounts of outside", "0::/\n",
		"40 32 0:27 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		{ { "cgroup.controllers", "cpu\n" } }, 0, NULL, true, { NULL } },
	{ "the same in v1", "3:cpu,cpuacct:/\n",
		"41 32 0:28 /.. /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
		{ { "cpu,cpuacct/cgroup.sane_behavior", "0\n" },
			{ "cpu,cpuacct/cpu.cfs_quota_us", "-1\n" },
			{ "cpu,cpuacct/cpu.cfs_period_us", "100000\n" } },
		0, NULL, true, { NULL } },
	{ "outside of the namespace", "0::/../x\n", V2,
		{ { "cgroup.controllers", "cpu\n" }, { "cpu.max", "30000 100000\n" } }, 0, NULL,
		true, { NULL } },
	{ "a container that has its own cgroup mounted", "3:cpu,cpuacct:/pod/c\n",
		"41 32 0:28 /pod/c /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
		{ { "cpu,cpuacct/cpu.cfs_quota_us", "20000\n" },
			{ "cpu,cpuacct/cpu.cfs_period_us", "100000\n" },
			{ "cpu,cpuacct/cpu.stat", "throttled_time 0\n" } },
		0.2, "cpu,cpuacct/cpu.cfs_quota_us", true, { "cpu,cpuacct/cpu.stat" } },
	{ "a container that has another cgroup mounted", "3:cpu,cpuacct:/pod/c\n",
		"41 32 0:28 /pod/d /sys/fs/cgroup/other rw - cgroup cgroup rw,cpu,cpuacct\n",
		{ { "other/cpu.cfs_quota_us", "20000\n" },
			{ "other/cpu.cfs_period_us", "100000\n" } },
		0, NULL, true, { NULL } },
	{ "mounted elsewhere", "0::/a\n",
		"40 32 0:27 / /sys/fs/cgroup/my\\040place rw - cgroup2 cgroup2 rw\n",
		{ { "my place/a/cpu.max", "20000 100000\n" }, { "my place/a/cpu.stat", NONE } },
		0.2, "my place/a/cpu.max", false, { "my place/a/cpu.stat" } },
	{ "no such mount, as of a recorded machine", "0::/a\n",
		"21 1 0:20 / /sys rw - sysfs sysfs rw\n",
		{ { "cgroup.controllers", "cpu\n" }, { "a/cpu.max", "20000 100000\n" },
			{ "a/cpu.stat", NONE } },
		0.2, "a/cpu.max", false, { "a/cpu.stat" } },
	{ "no cgroups to be seen", "0::/a\n", "21 1 0:20 / /sys rw - sysfs sysfs rw\n", { { 0 } },
		0, NULL, true, { NULL } },
	{ "a kernel without the controller", "3:cpuset:/a\n",
		"40 32 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
		{ { "cpuset/a/cpuset.cpus", "0\n" } }, 0, NULL, false, { NULL } },
};

static void die(const char *what)
{
	perror(what);
	_exit(EXIT_FAILURE);
}

static void write_file(const char *path, const char *text)
{
	char folder[PATH_MAX];
	FILE *stream;

	for (const char *slash = path + strlen(CGROUPS); (slash = strchr(slash + 1, '/'));) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			die(folder);
	}
	stream = fopen(path, "we");
	if (!stream || fputs(text, stream) < 0 || fclose(stream) < 0)
		die(path);
}

/* Shows the text as a file of this process. */
static void show(const char *file, const char *name, const char *text)
{
	char path[64], over[64];

	snprintf(path, sizeof(path), CGROUPS "/%s", name);
	snprintf(over, sizeof(over), "/proc/self/%s", file);
	write_file(path, text);
	if (mount(path, over, NULL, MS_BIND, NULL) < 0)
		_exit(EXIT_SKIP);
}

static void expect_text(const char *what, const char *got, const char *below)
{
	char wanted[PATH_MAX];

	snprintf(wanted, sizeof(wanted), "%s%s", below ? CGROUPS "/" : "none", below ? below : "");
	fprintf(stderr, "%s: %s, wanted %s\n", what, got ? got : "none", wanted);
	if (strcmp(got ? got : "none", wanted) != 0)
		_exit(EXIT_FAILURE);
}

/* In a child, with a machine of its own. */
static void look(const struct scene *scene)
{
	struct quota quota;
	char *why = NULL;
	size_t n = 0;

	if (mounts_unshare(false, &why) < 0 || mount("test", CGROUPS, "tmpfs", 0, NULL) < 0) {
		fprintf(stderr, "%s\n", why ? why : strerror(errno));
		free(why);
		_exit(EXIT_SKIP);
	}
	for (size_t i = 0; i < FILES_MAX && scene->files[i].path; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), CGROUPS "/%s", scene->files[i].path);
		write_file(path, scene->files[i].text);
	}
	show("cgroup", "of-process", scene->cgroup);
	show("mountinfo", "mounts-of-process", scene->mountinfo);
	if (quota_read(0, &quota) != 0)
		_exit(EXIT_FAILURE);
	fprintf(stderr, "%g CPUs, hidden %d, %zu files\n", quota.cpus, quota.is_hidden,
		quota.n_stats);
	if (scene->cpus > 0 ? fabs(quota.cpus - scene->cpus) > 1e-12 : !isinf(quota.cpus))
		_exit(EXIT_FAILURE);
	expect_text("limit", quota.limit, scene->limit);
	while (n < QUOTA_STATS_MAX && scene->stats[n])
		n++;
	if (quota.n_stats != n || quota.is_hidden != scene->is_hidden)
		_exit(EXIT_FAILURE);
	for (size_t i = 0; i < n; i++)
		expect_text("file", quota.stats[i], scene->stats[i]);
	quota_clear(&quota);
	_exit(EXIT_SUCCESS);
}

static void test_scenes(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		pid_t pid;
		int status;

		fprintf(stderr, "%s\n", scenes[i].name);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			look(&scenes[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == EXIT_SKIP)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* This machine, whatever it is, and a process that is not there. */
static void test_here(_unused_ void **state)
{
	struct quota quota;

	assert_int_equal(quota_read(0, &quota), 0);
	assert_true(quota.cpus > 0);
	assert_true((quota.limit != NULL) == isfinite(quota.cpus));
	quota_clear(&quota);
	assert_int_equal(quota_read(INT_MAX, &quota), 0);
	assert_true(quota.is_hidden && isinf(quota.cpus) && quota.n_stats == 0);
	quota_clear(&quota);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_cfs),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_scenes),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
