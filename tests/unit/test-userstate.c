// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/where/userstate.h"

static char folder[] = "/tmp/test-userstate-XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(folder) && setenv("XDG_STATE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/quiesce/whole-core", folder);
	(void)unlink(path);
	snprintf(path, sizeof(path), "%s/quiesce", folder);
	(void)rmdir(path);
	return rmdir(folder);
}

static void test_parse(void **state)
{
	static const char text[] = "42731 Some CPU @ 2.60GHz\n"
				   "\n"
				   "39000\n"
				   "0 Zero\n"
				   "999999999 Too many\n"
				   "-5 Negative\n"
				   "junk\n"
				   "38000 Some CPU\n"
				   "61000 Last";
	double adds = -1;

	(void)state;
	assert_int_equal(
		userstate_parse_whole_core(text, "Some CPU", TOPOLOGY_KIND_UNIFORM, &adds), 0);
	assert_true(adds == 3.8);
	assert_int_equal(userstate_parse_whole_core(
				 text, "Some CPU @ 2.60GHz", TOPOLOGY_KIND_UNIFORM, &adds),
		0);
	assert_true(adds == 4.2731);
	assert_int_equal(userstate_parse_whole_core(text, "Last", TOPOLOGY_KIND_UNIFORM, &adds), 0);
	assert_true(adds == 6.1);
	adds = -1;
	assert_int_equal(
		userstate_parse_whole_core(text, "Some", TOPOLOGY_KIND_UNIFORM, &adds), -ENODATA);
	assert_int_equal(
		userstate_parse_whole_core(text, "Zero", TOPOLOGY_KIND_UNIFORM, &adds), -ENODATA);
	assert_int_equal(userstate_parse_whole_core(text, "Too many", TOPOLOGY_KIND_UNIFORM, &adds),
		-ENODATA);
	assert_int_equal(userstate_parse_whole_core(text, "Negative", TOPOLOGY_KIND_UNIFORM, &adds),
		-ENODATA);
	assert_int_equal(
		userstate_parse_whole_core("", "Last", TOPOLOGY_KIND_UNIFORM, &adds), -ENODATA);
	assert_true(adds == -1);
}

static void settle(
	const char *model, enum topology_kind kind, double best, double wanted, bool wanted_known)
{
	bool known = !wanted_known;

	assert_true(userstate_settle_whole_core(model, kind, best, &known) == wanted);
	assert_int_equal(known, wanted_known);
}

static void test_settle(void **state)
{
	(void)state;
	settle("A", TOPOLOGY_KIND_UNIFORM, 4.25, 4.25, false);
	settle("B", TOPOLOGY_KIND_EFFICIENCY, 3.5, 3.5, false);
	/* The larger one is kept. */
	settle("A", TOPOLOGY_KIND_UNIFORM, 4, 4.25, true);
	settle("A", TOPOLOGY_KIND_UNIFORM, 4.5, 4.5, true);
	settle("A", TOPOLOGY_KIND_UNIFORM, 4, 4.5, true);
	/* The kinds of cores of one model differ. */
	settle("B", TOPOLOGY_KIND_PERFORMANCE, 4, 4, false);
	settle("B", TOPOLOGY_KIND_UNIFORM, 3, 3, false);
	settle("B", TOPOLOGY_KIND_EFFICIENCY, 3, 3.5, true);
	/* What would damage the file, or no core can do, is not kept. */
	settle("A\nB", TOPOLOGY_KIND_UNIFORM, 4, 4, false);
	settle("A\nB", TOPOLOGY_KIND_UNIFORM, 4, 4, false);
	settle("", TOPOLOGY_KIND_UNIFORM, 4, 4, false);
	settle("", TOPOLOGY_KIND_UNIFORM, 4, 4, false);
	settle("C", TOPOLOGY_KIND_UNIFORM, 17, 17, false);
	settle("C", TOPOLOGY_KIND_UNIFORM, 4, 4, false);
	settle(NULL, TOPOLOGY_KIND_UNIFORM, 4, 4, false);
}

static void refuse_path(int error, const char *wanted)
{
	_cleanup_free_ char *path = NULL, *why = NULL;

	assert_int_equal(userstate_path("last.json", &path, &why), error);
	assert_null(path);
	assert_string_equal(why, wanted);
	assert_int_equal(userstate_path("last.json", &path, NULL), error);
}

/* A folder of another user is not used; without HOME there is none. */
static void test_path(void **state)
{
	_cleanup_free_ char *path = NULL, *wanted = NULL, *why = NULL;

	(void)state;
	assert_int_equal(userstate_path("last.json", &path, &why), 0);
	assert_null(why);
	assert_true(asprintf(&wanted, "%s/quiesce/last.json", folder) > 0);
	assert_string_equal(path, wanted);
	assert_int_equal(setenv("XDG_STATE_HOME", "relative", 1), 0);
	assert_int_equal(unsetenv("HOME"), 0);
	refuse_path(-ENOENT, "HOME: not in the environment");
	assert_int_equal(setenv("HOME", "~", 1), 0);
	refuse_path(-ENOENT, "HOME: no absolute path");
	assert_int_equal(setenv("HOME", "/nonexistent", 1), 0);
	refuse_path(-ENOENT, "/nonexistent: No such file or directory");
	assert_int_equal(setenv("HOME", "/dev/null", 1), 0);
	refuse_path(-ENOENT, "/dev/null: no folder");
	assert_int_equal(setenv("XDG_STATE_HOME", "/proc/self", 1), 0);
	refuse_path(-ENOENT, "/proc/self/quiesce: No such file or directory");
	if (geteuid() != 0) {
		assert_int_equal(setenv("XDG_STATE_HOME", "/", 1), 0);
		refuse_path(-ENOENT, "/: belongs to another user");
	}
	assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests_name("userstate", tests, enter, leave);
}
