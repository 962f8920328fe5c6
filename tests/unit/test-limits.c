// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "quiet/benchmark-join/limits.h"

#define SESSION "/user.slice/user-1000.slice/session-3.scope"

static char root[] = "/tmp/test-limits.XXXXXX";

static int make_root(void **state)
{
	static const char *const cgroups[] = { "/user.slice", "/user.slice/user-1000.slice",
		SESSION, "/bare" };
	char path[PATH_MAX];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++) {
		snprintf(path, sizeof(path), "%s%s", root, cgroups[i]);
		if (mkdir(path, 0755) < 0)
			return -1;
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *file, const char *text)
{
	char path[PATH_MAX];
	FILE *stream;

	snprintf(path, sizeof(path), "%s%s", root, file);
	stream = fopen(path, "we");
	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static void test_least_of_all_above(void **state)
{
	struct limits limits;

	(void)state;
	put("/user.slice/pids.max", "500\n");
	put("/user.slice/memory.max", "max\n");
	put("/user.slice/user-1000.slice/pids.max", "10813\n");
	put("/user.slice/user-1000.slice/memory.max", "1073741824\n");
	put("/user.slice/user-1000.slice/memory.high", "max\n");
	put("/user.slice/user-1000.slice/cpu.max", "150000 100000\n");
	put(SESSION "/pids.max", "max\n");
	put(SESSION "/memory.max", "2147483648\n");
	put(SESSION "/memory.swap.max", "0\n");
	put(SESSION "/cpu.max", "max 100000\n");
	assert_int_equal(limits_read(root, SESSION, &limits), 0);
	assert_int_equal(limits.values[LIMIT_TASKS], 500);
	assert_int_equal(limits.values[LIMIT_MEMORY], 1073741824);
	assert_true(limits.values[LIMIT_MEMORY_HIGH] == LIMIT_NONE);
	assert_int_equal(limits.values[LIMIT_SWAP], 0);
	assert_int_equal(limits.values[LIMIT_CPU], 1500000);
	/* What is below counts for nobody above. */
	assert_int_equal(limits_read(root, "/user.slice", &limits), 0);
	assert_int_equal(limits.values[LIMIT_TASKS], 500);
	assert_true(limits.values[LIMIT_MEMORY] == LIMIT_NONE);
	assert_true(limits.values[LIMIT_SWAP] == LIMIT_NONE);
}

static void test_none(void **state)
{
	static const char *const paths[] = { "/bare", "/", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct limits limits = { { 1, 1, 1, 1, 1 } };

		assert_int_equal(limits_read(root, paths[i], &limits), 0);
		assert_memory_equal(&limits, &limits_none, sizeof(limits));
	}
}

static void test_gone(void **state)
{
	struct limits limits = { { 1, 2, 3, 4, 5 } };
	char *path = malloc(PATH_MAX + 2);

	(void)state;
	assert_int_equal(limits_read(root, "/user.slice/gone.scope", &limits), -ENOENT);
	assert_non_null(path);
	memset(path, 'a', PATH_MAX + 1);
	path[0] = '/';
	path[PATH_MAX + 1] = '\0';
	assert_int_equal(limits_read(root, path, &limits), -ENAMETOOLONG);
	free(path);
	assert_int_equal(limits.values[LIMIT_MEMORY], 2);
}

/* What cannot be read is not taken for no limit. */
static void test_nonsense(void **state)
{
	static const struct {
		const char *file, *text;
	} cases[] = {
		{ "/bare/pids.max", "" },
		{ "/bare/pids.max", "-1\n" },
		{ "/bare/pids.max", "maximum\n" },
		{ "/bare/pids.max", "12x\n" },
		{ "/bare/pids.max", "99999999999999999999\n" },
		{ "/bare/memory.max", "1 2\n" },
		{ "/bare/cpu.max", "100000\n" },
		{ "/bare/cpu.max", "100000 0\n" },
		{ "/bare/cpu.max", "18446744073709551615 100000\n" },
		{ "/bare/cpu.max", "1 2 3\n" },
	};
	struct limits limits;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[PATH_MAX];

		put(cases[i].file, cases[i].text);
		assert_int_equal(limits_read(root, "/bare", &limits), -EINVAL);
		snprintf(path, sizeof(path), "%s%s", root, cases[i].file);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(limits_read(root, "/bare", &limits), 0);
}

/* systemd refuses 0 where it would be no limit that a unit can live with. */
static void test_narrow(void **state)
{
	struct limits limits = limits_none;

	(void)state;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		limits_narrow(&limits, limit, 100);
		limits_narrow(&limits, limit, 200);
		limits_narrow(&limits, limit, LIMIT_NONE);
		assert_int_equal(limits.values[limit], 100);
		limits_narrow(&limits, limit, 0);
		assert_int_equal(limits.values[limit], limit == LIMIT_SWAP ? 0 : 1);
		assert_non_null(limits_property(limit));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_of_all_above),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_narrow),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
