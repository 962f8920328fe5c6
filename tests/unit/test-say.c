// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"

static int saved = -1;
static int reading = -1;

static int catch_stderr(void **state)
{
	int fds[2];

	(void)state;
	saved = dup(STDERR_FILENO);
	if (saved < 0 || pipe(fds) < 0 || dup2(fds[1], STDERR_FILENO) < 0)
		return -1;
	close(fds[1]);
	reading = fds[0];
	program_invocation_short_name = (char *)"tool";
	return 0;
}

static int release_stderr(void **state)
{
	(void)state;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(reading);
	return 0;
}

/* One read(2): the line must have been written in one piece. */
static void check_said(const char *wanted)
{
	char got[4096];
	ssize_t n = read(reading, got, sizeof(got) - 1);

	assert_true(n > 0);
	got[n] = '\0';
	assert_string_equal(got, wanted);
}

/* What getopt_long(3) says to one word, and then ours. */
static void check_option(const char *word, const char *wanted)
{
	static const struct option table[] = {
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 1000 },
		{ 0 },
	};
	char *argv[] = { (char *)"tool", (char *)word, NULL };
	int option;

	/* 0: also forgets where in a cluster it was (getopt(3)). */
	optind = 0;
	opterr = 0;
	do
		option = getopt_long(2, argv, ":vVc:", table, NULL);
	while (option != ':' && option != '?' && option != -1);
	assert_int_not_equal(option, -1);
	say_option(option, argv, table);
	check_said(wanted);
}

static void test_option(void **state)
{
	(void)state;
	check_option("--nope", "tool: there is no option --nope; see tool --help\n");
	check_option("--nope=3", "tool: there is no option --nope=3; see tool --help\n");
	check_option("-x", "tool: there is no option -x; see tool --help\n");
	check_option("-vvx", "tool: there is no option -x; see tool --help\n");
	check_option("--ver", "tool: --ver could be --verbose or --version; see tool --help\n");
	check_option("--ver=1", "tool: --ver=1 could be --verbose or --version; see tool --help\n");
	check_option("--json=1", "tool: --json takes no value; see tool --help\n");
	check_option("--verbose=1", "tool: --verbose takes no value; see tool --help\n");
	check_option("-c", "tool: -c needs a value; see tool --help\n");
	check_option("--cpus", "tool: --cpus needs a value; see tool --help\n");
}

static void test_say(void **state)
{
	(void)state;
	say("%s: '%d' is not a number", "-n", 5);
	check_said("tool: -n: '5' is not a number\n");
	say("%s", "");
	check_said("tool: \n");
	say("no \033[2J\nsecond line");
	check_said("tool: no \\x1b[2J\\x0asecond line\n");
}

static void test_print(void **state)
{
	(void)state;
	assert_int_equal(print(stderr, "%s: two\nlines, \033[2J\n", "a\xff"), 0);
	check_said("a\\xff: two\nlines, \\x1b[2J\n");
}

static void test_say_errno(void **state)
{
	(void)state;
	say_errno(ENOENT, "cannot open %s", "/a\nb");
	check_said("tool: cannot open /a\\x0ab: No such file or directory\n");
	say_errno(-EACCES, "cannot open /a");
	check_said("tool: cannot open /a: Permission denied\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_say, catch_stderr, release_stderr),
		cmocka_unit_test_setup_teardown(test_print, catch_stderr, release_stderr),
		cmocka_unit_test_setup_teardown(test_option, catch_stderr, release_stderr),
		cmocka_unit_test_setup_teardown(test_say_errno, catch_stderr, release_stderr),
	};

	return cmocka_run_group_tests_name("say", tests, NULL, NULL);
}
