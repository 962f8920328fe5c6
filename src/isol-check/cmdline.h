/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel parameters would make the CPUs quiet: --cmdline, and what checks advise. */
#ifndef QUIESCE_ISOL_CHECK_CMDLINE_H
#define QUIESCE_ISOL_CHECK_CMDLINE_H

#include <stdbool.h>

#include "isol-check/check.h"
#include "isol-check/host.h"

/*
 * The parameters that are not on the machine's boot line as they should be, with blanks between,
 * malloc'd; "" when nothing is missing. Each replaces the one of its name. In *ret_reason, malloc'd
 * as well, one line for each: why. The siblings of the CPUs are taken in: what runs on one thread
 * of a core disturbs the other. -ENODATA where the boot line cannot be read, -ENOMEM.
 */
int cmdline_make(struct host *host, char **ret, char **ret_reason);

/* Advises all of them: one boot for all, rather than one for each. */
void cmdline_advise(struct host *host, struct finding *finding);

/* --cmdline. Prints them, and with `verbose` the reasons on standard error. A negative errno. */
int cmdline_run(struct host *host, bool verbose);

#endif
