// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine/isolation.h"
#include "base/macro.h"
#include "look/recording/mounts.h"

static void test_parse_cgroup(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		bool v1;
		const char *controllers;
		const char *path;
	} cases[] = {
		{ "0::/user.slice\n", 0, false, NULL, "/user.slice" },
		{ "0::/", 0, false, NULL, "/" },
		/* The v1 line has the say, before or behind the other. */
		{ "9:name=systemd:/\n3:cpuset:/a/b\n0::/x\n", 0, true, "cpuset", "/a/b" },
		{ "0::/x\n3:cpuset:/a/b\n9:name=systemd:/\n", 0, true, "cpuset", "/a/b" },
		{ "4:cpu,cpuset:/a\n", 0, true, "cpu,cpuset", "/a" },
		{ "4:cpuset,cpu:/a\n", 0, true, "cpuset,cpu", "/a" },
		{ "4:cpu,cpuacct:/a\n0::/x\n", 0, false, NULL, "/x" },
		/* Names that only look like the controller. */
		{ "4:name=cpuset:/a\n0::/x\n", 0, false, NULL, "/x" },
		{ "4:cpusets,xcpuset:/a\n0::/x\n", 0, false, NULL, "/x" },
		/* A name may hold colons and dots. */
		{ "0::/a:b/..c/d..\n", 0, false, NULL, "/a:b/..c/d.." },
		{ "0::/x (deleted)\n", 0, false, NULL, "/x (deleted)" },
		{ "10::/x\n", -ENODATA, false, NULL, NULL },
		{ "4:cpu:/a\n", -ENODATA, false, NULL, NULL },
		{ "", -ENODATA, false, NULL, NULL },
		{ "\n\n", -ENODATA, false, NULL, NULL },
		{ "0:\n", -ENODATA, false, NULL, NULL },
		{ "0::\n", -ENODATA, false, NULL, NULL },
		{ "0::x\n", -ENODATA, false, NULL, NULL },
		/* Outside of our cgroup namespace. */
		{ "0::/..\n", -ENODATA, false, NULL, NULL },
		{ "0::/../x\n", -ENODATA, false, NULL, NULL },
		{ "3:cpuset:/a/../..\n", -ENODATA, false, NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct isolation_cpuset cpuset = { .v1 = true };

		fprintf(stderr, "case %zu\n", i);
		assert_int_equal(isolation_parse_cgroup(cases[i].text, &cpuset), cases[i].r);
		if (cases[i].r < 0) {
			assert_true(cpuset.v1);
			assert_null(cpuset.path);
			continue;
		}
		assert_true(cpuset.v1 == cases[i].v1);
		assert_string_equal(cpuset.path, cases[i].path);
		if (cases[i].controllers)
			assert_string_equal(cpuset.controllers, cases[i].controllers);
		else
			assert_null(cpuset.controllers);
		isolation_cpuset_clear(&cpuset);
		assert_null(cpuset.path);
	}
}

/* Without a controller, the line of v2. */
static void test_parse_v2(_unused_ void **state)
{
	struct isolation_cpuset own = { 0 };

	assert_int_equal(isolation_parse_cgroup_of(
				 "9:name=systemd:/a\n3:cpuset:/b\n0::/user.slice/x\n", NULL, &own),
		0);
	assert_false(own.v1);
	assert_string_equal(own.path, "/user.slice/x");
	isolation_cpuset_clear(&own);
	assert_int_equal(isolation_parse_cgroup_of("0::/x\n1:cpu,cpuset:/b\n", NULL, &own), 0);
	assert_string_equal(own.path, "/x");
	isolation_cpuset_clear(&own);
	assert_int_equal(isolation_parse_cgroup_of("9:name=systemd:/a\n3:cpuset:/b\n", NULL, &own),
		-ENODATA);
	assert_int_equal(isolation_parse_cgroup_of("0::/../x\n", NULL, &own), -ENODATA);
	assert_null(own.path);
}

/* Whatever machine this is. */
static void test_read(_unused_ void **state)
{
	struct isolation *isolation = NULL;

	assert_int_equal(isolation_read(&isolation), 0);
	assert_true(cpumask_subset(isolation->boot, isolation->isolated));
	assert_true(cpumask_subset(isolation->partitions, isolation->isolated));
	isolation_free(isolation);
	isolation_free(NULL);
}

static void test_allowed(_unused_ void **state)
{
	struct cpumask *self = NULL, *allowed = NULL, *now = NULL;
	char *text = NULL;
	int cpu = 4711;

	assert_int_equal(cpumask_new(&self), 0);
	assert_int_equal(cpumask_new(&allowed), 0);
	assert_int_equal(cpumask_new(&now), 0);
	assert_int_equal(cpumask_get_self(self), 0);
	assert_int_equal(isolation_read_allowed(allowed), 0);
	assert_false(cpumask_is_empty(allowed));
	assert_true(cpumask_subset(self, allowed));
	/* To ask changed nothing. */
	assert_int_equal(cpumask_get_self(now), 0);
	assert_true(cpumask_equal(self, now));

	assert_int_equal(isolation_find_denied(self, &cpu), 0);
	assert_int_equal(cpu, 4711);
	assert_int_equal(isolation_explain_denied(cpumask_first(self), &text), -ENODATA);
	assert_null(text);
	cpumask_free(self);
	cpumask_free(allowed);
	cpumask_free(now);
}

/* No machine that runs this test has the highest CPU that a mask can hold. */
static void test_denied(_unused_ void **state)
{
	struct cpumask *mask = NULL;
	char *text = NULL;
	int cpu = -1;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_get_self(mask), 0);
	assert_int_equal(cpumask_set(mask, CPUMASK_CAPACITY - 1), 0);
	assert_int_equal(isolation_find_denied(mask, &cpu), 1);
	assert_int_equal(cpu, CPUMASK_CAPACITY - 1);
	assert_int_equal(isolation_explain_denied(cpu, &text), 0);
	fprintf(stderr, "%s\n", text);
	assert_non_null(strstr(text, "cpuset "));
	assert_non_null(strstr(text, " has "));
	free(text);
	cpumask_free(mask);
}

/* A cpuset would allow it, our own affinity does not. */
static void test_denied_by_affinity(_unused_ void **state)
{
	struct cpumask *self = NULL, *one = NULL;
	char *text = NULL, *list, *expected;

	assert_int_equal(cpumask_new(&self), 0);
	assert_int_equal(cpumask_new(&one), 0);
	assert_int_equal(cpumask_get_self(self), 0);
	if (cpumask_weight(self) < 2) {
		cpumask_free(self);
		cpumask_free(one);
		skip();
	}
	assert_int_equal(cpumask_set(one, cpumask_first(self)), 0);
	assert_int_equal(cpumask_bind_self(one), 0);
	assert_int_equal(isolation_explain_denied(cpumask_last(self), &text), 0);
	assert_int_equal(cpumask_bind_self(self), 0);
	list = cpumask_format_list(one);
	assert_non_null(list);
	assert_true(asprintf(&expected, "its affinity mask has %s (taskset?)", list) > 0);
	assert_string_equal(text, expected);
	free(expected);
	free(list);
	free(text);
	cpumask_free(self);
	cpumask_free(one);
}

/* --- A cgroup that somebody has closed. --- */

#define CGROUPS "/sys/fs/cgroup"

enum {
	EXIT_SKIP = 77,
};

static void write_file(const char *path, const char *text)
{
	FILE *stream = fopen(path, "we");

	if (!stream || fputs(text, stream) < 0 || fclose(stream) < 0) {
		perror(path);
		_exit(EXIT_FAILURE);
	}
}

static void write_cgroup(const char *cgroup, const char *cpus)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUPS "%s", cgroup);
	if (mkdir(path, 0755) < 0 && errno != EEXIST) {
		perror(path);
		_exit(EXIT_FAILURE);
	}
	snprintf(path, sizeof(path), CGROUPS "%s/cpuset.cpus.effective", cgroup);
	write_file(path, cpus);
}

/* As an ordinary user, or root in a container: without a capability that opens directories. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capset, &header, none) < 0) {
		perror("capset");
		_exit(EXIT_FAILURE);
	}
}

static void expect_cpuset(int r, const char *path, const char *list)
{
	struct cpumask *cpus = NULL;
	char *found = NULL, *text = NULL;
	int got;

	if (cpumask_new(&cpus) < 0)
		_exit(EXIT_FAILURE);
	got = isolation_read_cpuset(0, cpus, &found);
	text = cpumask_format_list(cpus);
	fprintf(stderr, "%d: %s in %s; wanted %d: %s in %s\n", got, text, found ? found : "-", r,
		list, path);
	if (got != r || (r == 0 && (strcmp(found, path) != 0 || strcmp(text, list) != 0)))
		_exit(EXIT_FAILURE);
	free(text);
	free(found);
	cpumask_free(cpus);
}

static void look_at_closed_cgroups(void)
{
	char *why = NULL;

	if (mounts_unshare(false, &why) < 0 || mount("test", CGROUPS, "tmpfs", 0, NULL) < 0) {
		fprintf(stderr, "%s\n", why ? why : strerror(errno));
		free(why);
		_exit(EXIT_SKIP);
	}
	write_file(CGROUPS "/cgroup.controllers", "cpuset\n");
	write_file(CGROUPS "/mine", "0::/user/closed/inner\n");
	if (mount(CGROUPS "/mine", "/proc/self/cgroup", NULL, MS_BIND, NULL) < 0)
		_exit(EXIT_SKIP);
	write_cgroup("", "0-7\n");
	write_cgroup("/user", "0-5\n");
	write_cgroup("/user/closed", "0-3\n");
	write_cgroup("/user/closed/inner", "0-1\n");
	drop_capabilities();
	expect_cpuset(0, "/user/closed/inner", "0-1");
	if (chmod(CGROUPS "/user/closed", 0) < 0)
		_exit(EXIT_FAILURE);
	expect_cpuset(0, "/user", "0-5");
	if (chmod(CGROUPS, 0) < 0)
		_exit(EXIT_FAILURE);
	expect_cpuset(-ENODATA, "", "");
	_exit(EXIT_SUCCESS);
}

/* The nearest cgroup that can be read above it counts; none: as on a machine without cgroups. */
static void test_closed(_unused_ void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		look_at_closed_cgroups();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == EXIT_SKIP)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_cgroup),
		cmocka_unit_test(test_parse_v2),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_denied_by_affinity),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests_name("isolation", tests, NULL, NULL);
}
