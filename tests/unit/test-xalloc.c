// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/xalloc.h"

enum {
	EXIT_SKIP = 77,
};

static char folder[] = "/tmp/xalloc.XXXXXX";

static void fail_pointer(void)
{
	(void)xptr((char *)NULL);
}

static void fail_error(void)
{
	(void)xcheck(-ENOMEM);
}

/* A file system without O_TMPFILE, on which a temporary file has a name. */
static void refuse_unnamed_files(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, args[2]) +
				(__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(EXIT_SKIP);
}

/* Of three files, the first is whole, and two are being written. */
static void fail_with_files(void)
{
	static const char *const paths[] = { "whole", "second", "third" };
	struct file_replace *files[ARRAY_SIZE(paths)];

	if (chdir(folder) < 0)
		_exit(1);
	refuse_unnamed_files();
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (file_replace_begin(paths[i], &files[i]) < 0 ||
			fputs("text\n", file_replace_stream(files[i])) == EOF)
			_exit(1);
	if (file_replace_commit(files[0]) < 0)
		_exit(1);
	xalloc_fail();
}

/* The exit status, and what was said. */
static int run_child(void (*act)(void), char *said, size_t size)
{
	int fds[2], status;
	ssize_t n, all = 0;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		act();
		/* It has gone on without memory, which is no reason to skip a test. */
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], said + all, size - 1 - (size_t)all)) > 0)
		all += n;
	said[all] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_failures(_unused_ void **state)
{
	static const struct {
		void (*act)(void);
		const char *said;
	} cases[] = {
		{ fail_pointer, "tool: out of memory\n" },
		{ fail_error, "tool: out of memory\n" },
		{ xalloc_fail, "tool: out of memory\n" },
	};
	char said[256];

	program_invocation_short_name = (char *)"tool";
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(run_child(cases[i].act, said, sizeof(said)), EXIT_FAILED);
		assert_string_equal(said, cases[i].said);
	}
}

static void test_files(_unused_ void **state)
{
	char said[256], path[sizeof(folder) + sizeof("/whole")];
	int status;

	assert_non_null(mkdtemp(folder));
	status = run_child(fail_with_files, said, sizeof(said));
	snprintf(path, sizeof(path), "%s/whole", folder);
	if (status == EXIT_SKIP) {
		assert_int_equal(rmdir(folder), 0);
		print_message("# system calls cannot be filtered here (seccomp)\n");
		skip();
	}
	assert_int_equal(status, EXIT_FAILED);
	assert_string_equal(said, "tool: out of memory\n");
	/* Nothing else is in the folder. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* What has not failed for memory is passed on. */
static void test_passed_on(_unused_ void **state)
{
	const char *text = "a";
	char *line = xformat("%s %d", text, 3);

	assert_string_equal(line, "a 3");
	free(line);
	assert_ptr_equal(xptr(text), text);
	assert_int_equal(xcheck(0), 0);
	assert_int_equal(xcheck(3), 3);
	assert_int_equal(xcheck(-ENOENT), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
