/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The boot parameters that would make the CPUs quiet: for --cmdline, and as the fix of checks. They
 * also cover the siblings of the CPUs, because threads of a core disturb each other. */
#ifndef QUIESCE_LOOK_ISOL_CHECK_CMDLINE_H
#define QUIESCE_LOOK_ISOL_CHECK_CMDLINE_H

#include <stdbool.h>

#include "look/isol-check/check.h"
#include "look/isol-check/host.h"

/* Adds all these parameters as a fix, so that one reboot is enough for all checks. */
void cmdline_advise(struct host *host, struct finding *finding);

/* --cmdline: prints the parameters, and with `verbose` the reasons on standard error. 0 or a
 * negative errno. */
int cmdline_run(struct host *host, bool verbose);

#endif
