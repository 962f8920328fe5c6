// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/terminal.h"

static void test_no_terminal(void **state)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(terminal_width(fd), 80);
	close(fd);
	assert_int_equal(terminal_width(-1), 80);
}

static void test_terminal(void **state)
{
	static const struct {
		unsigned short columns;
		unsigned width;
	} cases[] = { { 0, 80 }, { 1, 80 }, { 19, 80 }, { 20, 20 }, { 132, 132 }, { 9999, 9999 } };
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)state;
	if (fd < 0) {
		print_message("# there is no /dev/ptmx, as in some containers\n");
		skip();
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct winsize size = { .ws_row = 24, .ws_col = cases[i].columns };

		assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
		assert_int_equal(terminal_width(fd), cases[i].width);
	}
	close(fd);
}

static void test_obeys(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)state;
	if (master < 0) {
		skip();
		return;
	}
	setenv("TERM", "xterm", 1);
	assert_true(terminal_obeys(master));
	setenv("TERM", "dumb", 1);
	assert_false(terminal_obeys(master));
	unsetenv("TERM");
	assert_true(terminal_obeys(master));
	assert_false(terminal_obeys(-1));
	close(master);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_terminal),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_obeys),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
