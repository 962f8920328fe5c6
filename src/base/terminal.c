// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/terminal.h"

enum {
	WIDTH_DEFAULT = 80,
	WIDTH_LEAST = 20,
};

unsigned terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < WIDTH_LEAST)
		return WIDTH_DEFAULT;
	return size.ws_col;
}

bool terminal_obeys(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && !(term && strcmp(term, "dumb") == 0);
}
