// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/survive.h"

static void do_nothing(int number)
{
	(void)number;
}

void survive_signal(int number)
{
	if (signal(number, do_nothing) == SIG_IGN)
		signal(number, SIG_IGN);
}

void survive_closed_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}
