/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the checks and shows what they found. */
#ifndef QUIESCE_ISOL_CHECK_REPORT_H
#define QUIESCE_ISOL_CHECK_REPORT_H

#include <stdbool.h>

#include "isol-check/check.h"

/* The table on standard output, or the same as JSON. How many findings of each verdict there are
 * is put into counts, which has VERDICT_N entries. A negative errno. */
int report_run(struct host *host, bool json, bool verbose, unsigned *counts);

#endif
