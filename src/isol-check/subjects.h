/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of checks, one for each subject, and how many each has. */
#ifndef QUIESCE_ISOL_CHECK_SUBJECTS_H
#define QUIESCE_ISOL_CHECK_SUBJECTS_H

#include "isol-check/check.h"

enum {
	TARGET_N = 1,
};

extern const struct check target_checks[TARGET_N];

#endif
