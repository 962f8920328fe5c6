// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "look/recording/mounts.h"
#include "quiet/engine/threads.h"

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (pid == 0)
		pause();
	return pid;
}

/* "TID@START" */
static void name_thread(pid_t pid, char *buf, size_t size)
{
	char path[64], text[FILE_ATTR_SIZE];
	struct task task = { 0 };

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	assert_true(file_read_attr(AT_FDCWD, path, text, sizeof(text)) > 0);
	assert_int_equal(tasks_parse_stat(text, &task), 0);
	snprintf(buf, size, "%d@%llu", (int)pid, (unsigned long long)task.start);
}

static void assert_there(const char *which)
{
	char *own = NULL, *followed = NULL;

	assert_int_equal(thread_read(which, &own), 0);
	assert_int_equal(thread_write(which, own), 0);
	assert_int_equal(follower_read(which, &followed), 0);
	assert_int_equal(follower_write(which, followed), 0);
	free(own);
	free(followed);
}

static void assert_gone(const char *which)
{
	char *text = NULL;

	assert_int_equal(thread_read(which, &text), -ENOENT);
	assert_int_equal(thread_write(which, "0"), -ENOENT);
	assert_int_equal(follower_read(which, &text), -ENOENT);
	assert_int_equal(follower_write(which, "all"), -ENOENT);
	assert_null(text);
}

/* Also where the kernel still lists it, and takes an affinity for it. */
static void test_ended(void **state _unused_)
{
	pid_t pid = start_child();
	char which[64];
	siginfo_t info;

	name_thread(pid, which, sizeof(which));
	assert_there(which);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_gone(which);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_gone(which);
}

/* The number alone is nobody: it may be used again. */
static void test_names(void **state _unused_)
{
	static const char *const bad[] = { "", "@", "1", "1@", "x@1", "99999999999@1", "-1@1" };
	char which[64];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_gone(bad[i]);
	name_thread(getpid(), which, sizeof(which));
	assert_there(which);
	snprintf(which, sizeof(which), "%d@1", (int)getpid());
	assert_gone(which);
}

/* A follower that was moved to CPUs 0-2, before one of them went offline: nobody has changed it.
 * Last, because it changes which CPUs are online for this process. */
static void test_offline(void **state _unused_)
{
	static const struct {
		const char *set, *now;
		int by_kernel;
	} cases[] = {
		{ "0-2", "0,2", 1 },
		{ "0-3", "0,2-3", 1 },
		{ "0-2", "0", 0 },
		{ "0-2", "0,2-3", 0 },
		{ "1", "0,2-3", 0 },
		{ "all", "0,2", 0 },
		{ "", "0,2", 0 },
	};
	static const char online[] = "/sys/devices/system/cpu/online";
	char path[] = "/tmp/quiesce-online-XXXXXX", *why = NULL;
	int fd;

	if (mounts_unshare(false, &why) < 0) {
		print_message("%s\n", why ? why : "no mount namespace");
		free(why);
		skip();
	}
	fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, "0,2-3\n", 6) == 6);
	assert_int_equal(mount(path, online, NULL, MS_BIND, NULL), 0);
	assert_int_equal(unlink(path), 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(follower_made_by_kernel("1@1", "all", cases[i].set, cases[i].now),
			cases[i].by_kernel);
	assert_int_equal(umount2(online, MNT_DETACH), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_offline),
	};

	return cmocka_run_group_tests_name("knob-threads", tests, NULL, NULL);
}
