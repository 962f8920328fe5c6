// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/paths.h"

/* What there is in it. */
static const char *const made[] = { "/eth1", "/eth1/queues", "/eth0", "/eth0/queues", "/lo" };

static char root[] = "/tmp/test-paths.XXXXXX";

static int set_up(_unused_ void **state)
{
	char path[64];

	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		snprintf(path, sizeof(path), "%s%s", root, made[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	return 0;
}

static int tear_down(_unused_ void **state)
{
	char path[64];

	for (size_t i = ARRAY_SIZE(made); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, made[i]);
		if (rmdir(path) < 0)
			return -1;
	}
	return rmdir(root);
}

static void test_list(_unused_ void **state)
{
	struct paths paths = { 0 };

	assert_int_equal(paths_list(root, "*", NULL, &paths), 0);
	assert_int_equal(paths.n, 3);
	paths_clear(&paths);
	assert_int_equal(paths_list(root, "*", "queues", &paths), 0);
	assert_int_equal(paths.n, 2);
	assert_string_equal(paths.items[0] + strlen(root), "/eth0/queues");
	assert_string_equal(paths.items[1] + strlen(root), "/eth1/queues");
	paths_clear(&paths);
	assert_int_equal(paths_list(root, "wl*", NULL, &paths), 0);
	assert_int_equal(paths.n, 0);
}

/* A folder that is not there, and one that cannot be opened. */
static void test_errors(_unused_ void **state)
{
	struct paths paths = { .n = 7 };
	struct rlimit limit, none;
	char path[64];

	snprintf(path, sizeof(path), "%s/wlan0", root);
	assert_int_equal(paths_list(path, "*", NULL, &paths), -ENOENT);
	assert_int_equal(paths_list("/dev/null", "*", NULL, &paths), -ENOENT);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(paths_list(root, "*", NULL, &paths), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(paths.n, 7);
}

/* With what is hidden, and what a link leads to stays. */
static void test_remove(_unused_ void **state)
{
	static const char *const folders[] = { "/removed", "/removed/.deep", "/removed/.deep/er" };
	char path[64], target[64];
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(target, sizeof(target), "%s/lo", root);
	snprintf(path, sizeof(path), "%s/removed/.deep/link", root);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/removed/.deep/file", root);
	assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
	snprintf(path, sizeof(path), "%s/removed", root);
	paths_remove(path);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(stat(target, &st), 0);
	/* It is not there. */
	paths_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_remove),
	};

	return cmocka_run_group_tests_name("paths", tests, set_up, tear_down);
}
