// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>

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
