// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/magic.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "look/recording/sysroot.h"
#include "look/recording/tarball.h"

enum {
	CHILD_DONE = 0,
	CHILD_FAILED = 1,
	CHILD_SKIPPED = 77,
};

/* The links that sysroot_enter() is to remove; NULL for none. */
static const char *wanted_removed;
static char top[] = "/tmp/quiesce-test-XXXXXX";

static void write_file(const char *name, const char *content)
{
	char path[256];
	FILE *stream;

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%s/%.*s", top, (int)(slash - name), name);
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	}
	snprintf(path, sizeof(path), "%s/%s", top, name);
	stream = fopen(path, "we");
	assert_non_null(stream);
	assert_true(fputs(content, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static int setup(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/quiesce-test-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static bool holds(const char *path, const char *content)
{
	char text[256];

	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0 && strcmp(text, content) == 0)
		return true;
	fprintf(stderr, "%s is not '%s'\n", path, content);
	return false;
}

static bool is_hidden(const char *path)
{
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return true;
	fprintf(stderr, "%s is there\n", path);
	return false;
}

/* In a process of its own, since there is no way back. */
static void run_child(
	bool (*look)(const char *missing), const char *recording, int error, const char *why_part)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		char *missing = NULL, *removed = NULL, *why = NULL;
		int r = sysroot_enter(recording, &missing, &removed, &why);

		if (r == -EPERM && why && strstr(why, "namespaces"))
			_exit(CHILD_SKIPPED);
		if (r != error || (why_part && !strstr(why, why_part))) {
			fprintf(stderr, "%d: %s\n", r, why);
			_exit(CHILD_FAILED);
		}
		if (!removed != !wanted_removed ||
			(removed && strcmp(removed, wanted_removed) != 0)) {
			fprintf(stderr, "removed: %s\n", removed ? removed : "nothing");
			_exit(CHILD_FAILED);
		}
		_exit(!look || look(missing) ? CHILD_DONE : CHILD_FAILED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CHILD_SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), CHILD_DONE);
}

static bool look_alone(const char *missing)
{
	struct statfs st;

	return holds("/proc/stat", "cpu") && holds("/sys/devices/x", "1") &&
		holds("/sys/class/link", "1") && holds("/proc/self/cgroup", "0::/") &&
		holds("/proc/no-such-entry", "new") && holds("/proc/self/comm", "test-sysroot") &&
		holds("/proc/thread-self/comm", "test-sysroot") && is_hidden("/proc/cmdline") &&
		is_hidden("/proc/1") && is_hidden("/sys/kernel/mm") && is_hidden("/sys/bus/cpu") &&
		is_hidden("/run") && is_hidden("/etc") && is_hidden("/proc/7") &&
		access("/dev/null", W_OK) == 0 && statfs("/sys", &st) == 0 &&
		st.f_type == SYSFS_MAGIC && missing && strcmp(missing, "/sys/no-such-entry") == 0;
}

static bool look_at_cgroup(const char *missing _unused_)
{
	return holds("/proc/self/cgroup", "0::/level0") && is_hidden("/proc/7");
}

static void write_machine(const char *prefix)
{
	static const char *const files[][2] = {
		{ "proc/stat", "cpu\n" },
		{ "proc/no-such-entry", "new\n" },
		{ "proc/7/comm", "no\n" },
		{ "sys/devices/x", "1\n" },
		{ "sys/class/y", "2\n" },
		{ "sys/no-such-entry/x", "3\n" },
	};
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s%s", prefix, files[i][0]);
		write_file(path, files[i][1]);
	}
	snprintf(path, sizeof(path), "%s/%ssys/class/link", top, prefix);
	assert_int_equal(symlink("../devices/x", path), 0);
}

/* The recording has the cgroup of who made it. */
static void test_cgroup(void **state)
{
	(void)state;
	write_machine("");
	write_file("proc/self/cgroup", "0::/level0\n");
	run_child(look_at_cgroup, top, 0, NULL);
}

static void test_alone(void **state)
{
	(void)state;
	write_machine("");
	run_child(look_alone, top, 0, NULL);
}

/* As tar(1) packs a directory: its name first. */
static void test_further_down(void **state)
{
	(void)state;
	write_machine("machine/");
	run_child(look_alone, top, 0, NULL);
}

static void test_no_machine(void **state)
{
	char path[64];

	(void)state;
	run_child(NULL, top, -EINVAL, "neither a sys/ nor a proc/");
	run_child(NULL, "/tmp/quiesce-test-none", -EINVAL, "No such file");
	if (HAVE_LIBARCHIVE)
		run_child(NULL, "/dev/null", -EINVAL, "neither a directory nor an archive");
	write_file("a/sys/x", "1\n");
	write_file("b/proc/x", "1\n");
	run_child(NULL, top, -EINVAL, "several machines");
	snprintf(path, sizeof(path), "%s/a/sys/x", top);
	if (HAVE_LIBARCHIVE)
		run_child(NULL, path, -EBADMSG, "");
	else
		run_child(NULL, path, -EOPNOTSUPP, "libarchive");
}

static void make_link(const char *target, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	(void)unlink(path);
	/* Its directories. */
	write_file(name, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(target, path), 0);
}

/* Removed from what is shown, and only there. */
static void expect_removed(
	bool (*look)(const char *missing), const char *recording, const char *links)
{
	wanted_removed = links;
	run_child(look, recording, 0, NULL);
	wanted_removed = NULL;
}

static bool look_without_way(const char *missing)
{
	return look_alone(missing) && is_hidden("/sys/devices/way") && is_hidden("/proc/way");
}

/* Each of them looks as if it stayed inside, by its letters; what it leads to is this machine's. */
static void test_links_out(void **state)
{
	char path[256], target[64];

	(void)state;
	write_machine("");
	make_link("../..", "a/b/up");
	make_link("../../a/b/up/../proc/self/environ", "sys/devices/way");
	expect_removed(look_without_way, top, "sys/devices/way");
	/* Inside of the recording, but beside it is another /proc/self here. */
	make_link("../../proc/self/environ", "sys/devices/way");
	expect_removed(look_without_way, top, "sys/devices/way");
	/* The recording still has it. */
	snprintf(path, sizeof(path), "%s/sys/devices/way", top);
	assert_int_equal(readlink(path, target, sizeof(target)), 23);
	/* As of an archive, one whose letters say that it leads out of the whole is refused. */
	make_link("/proc/self/environ", "sys/devices/way");
	run_child(NULL, top, -EINVAL, "sys/devices/way is a link that leads out");
	make_link("../../../x", "sys/devices/way");
	run_child(NULL, top, -EINVAL, "sys/devices/way is a link that leads out");
	make_link("y", "sys/devices/way");
	make_link("way", "sys/devices/y");
	run_child(NULL, top, -EINVAL, "sys/devices/");
	/* Through another one in the same tree. */
	make_link("..", "sys/devices/y");
	make_link("y/../../proc/self", "sys/devices/way");
	expect_removed(look_without_way, top, "sys/devices/way");
	/* And one that stays. */
	make_link("y/class/y", "sys/devices/way");
	run_child(NULL, top, 0, NULL);
	make_link("../sys/class/y", "proc/way");
	expect_removed(look_alone, top, "proc/way");
}

/* The same tree as a directory further down, whose copy is as it is: what may not be written there,
 * and what makes no sense. */
static bool look_at_copy(const char *missing)
{
	struct stat st;

	return look_alone(missing) && is_hidden("/sys/devices/way") &&
		stat("/sys/class/y", &st) == 0 && !(st.st_mode & S_IWUSR) &&
		stat("/sys/devices/x", &st) == 0 && st.st_mode & S_IWUSR;
}

static void test_link_out_further_down(void **state)
{
	char path[256];

	(void)state;
	write_machine("host/");
	make_link("../../outside", "host/sys/devices/way");
	snprintf(path, sizeof(path), "%s/host/sys/class/y", top);
	assert_int_equal(chmod(path, 0444), 0);
	expect_removed(look_at_copy, top, "sys/devices/way");
	make_link("../../../outside", "host/sys/devices/way");
	expect_removed(look_at_copy, top, "sys/devices/way");
	make_link("../../../../outside", "host/sys/devices/way");
	run_child(NULL, top, -EINVAL, "host/sys/devices/way is a link that leads out");
}

static bool look_without_links(const char *missing)
{
	return !missing && holds("/sys/devices/x", "1") && is_hidden("/sys/devices/out") &&
		holds("/sys/devices/inside", "1");
}

/* An archive and a directory of the same files are one recording. */
static void test_links_out_of_archive(void **state)
{
	char out[] = "../../outside", inside[] = "x", one[] = "1";
	struct tarball_entry entries[] = {
		{ .path = (char *)"sys", .type = TARBALL_DIRECTORY },
		{ .path = (char *)"sys/devices", .type = TARBALL_DIRECTORY },
		{ .path = (char *)"sys/devices/x", .type = TARBALL_FILE, .data = one, .size = 1 },
		{ .path = (char *)"sys/devices/inside", .type = TARBALL_LINK, .data = inside },
		{ .path = (char *)"sys/devices/out", .type = TARBALL_LINK, .data = out },
	};
	char path[256];
	FILE *stream;
	int r;

	(void)state;
	write_file("outside", "of it");
	write_file("machine/sys/devices/x", "1\n");
	make_link("x", "machine/sys/devices/inside");
	make_link("../../outside", "machine/sys/devices/out");
	snprintf(path, sizeof(path), "%s/machine", top);
	expect_removed(look_without_links, path, "sys/devices/out");
	snprintf(path, sizeof(path), "%s/linked.tar.gz", top);
	stream = fopen(path, "we");
	assert_non_null(stream);
	r = tarball_write(stream, entries, ARRAY_SIZE(entries));
	assert_int_equal(fclose(stream), 0);
	if (r == -EOPNOTSUPP)
		skip();
	assert_int_equal(r, 0);
	expect_removed(look_without_links, path, "sys/devices/out");
}

/* The trees themselves, in whose place this machine's would be shown. */
static void test_top_is_link(void **state)
{
	char from[256], to[256];

	(void)state;
	write_machine("");
	make_link("../..", "a/b/up");
	snprintf(from, sizeof(from), "%s/sys", top);
	snprintf(to, sizeof(to), "%s/real", top);
	assert_int_equal(rename(from, to), 0);
	make_link("a/b/up/../../sys", "sys");
	run_child(NULL, top, -EINVAL, "sys: ");
	assert_int_equal(unlink(from), 0);
	assert_int_equal(rename(to, from), 0);
	run_child(look_alone, top, 0, NULL);
}

/* Whoever opened them would wait for ever. */
static void test_odd_files(void **state)
{
	char path[256];

	(void)state;
	write_machine("");
	snprintf(path, sizeof(path), "%s/sys/class/pipe", top);
	assert_int_equal(mkfifo(path, 0644), 0);
	run_child(NULL, top, -EINVAL,
		"sys/class/pipe is neither a file, a directory nor a symbolic link");
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/proc/cmdline", top);
	assert_int_equal(mkfifo(path, 0644), 0);
	run_child(NULL, top, -EINVAL, "proc/cmdline is neither a file");
	run_child(NULL, path, -EINVAL, "neither a directory nor an archive");
	assert_int_equal(unlink(path), 0);
	run_child(look_alone, top, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cgroup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_further_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link_out_further_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_out_of_archive, setup, teardown),
		cmocka_unit_test_setup_teardown(test_top_is_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_files, setup, teardown),
	};

	return cmocka_run_group_tests_name("sysroot", tests, NULL, NULL);
}
