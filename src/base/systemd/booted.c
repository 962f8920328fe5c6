// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include "base/systemd/booted.h"

/* sd_booted(3) checks this directory. */
bool systemd_is_booted(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}
