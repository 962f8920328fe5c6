/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the checks and shows what they found. */
#ifndef QUIESCE_LOOK_ISOL_CHECK_REPORT_H
#define QUIESCE_LOOK_ISOL_CHECK_REPORT_H

#include <stdbool.h>

#include "look/isol-check/check.h"

/* Prints the table or JSON on standard output. counts has VERDICT_N entries: the number of findings
 * with each verdict. 0 or a negative errno. */
int report_run(struct host *host, bool json, bool verbose, unsigned *counts);

#endif
