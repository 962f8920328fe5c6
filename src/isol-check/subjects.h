/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of checks, one for each subject, and how many each has. */
#ifndef QUIESCE_ISOL_CHECK_SUBJECTS_H
#define QUIESCE_ISOL_CHECK_SUBJECTS_H

#include "isol-check/check.h"

enum {
	TARGET_N = 1,
	ISOLATION_N = 8,
	SMT_N = 3,
	FREQUENCY_N = 8,
	IDLE_N = 2,
	INTERRUPTS_N = 5,
	KERNEL_N = 13,
	HEAT_N = 3,
	SYSTEM_N = 7,
};

extern const struct check target_checks[TARGET_N];
extern const struct check isolation_checks[ISOLATION_N];
extern const struct check smt_checks[SMT_N];
extern const struct check frequency_checks[FREQUENCY_N];
extern const struct check idle_checks[IDLE_N];
extern const struct check interrupts_checks[INTERRUPTS_N];
extern const struct check kernel_checks[KERNEL_N];
extern const struct check heat_checks[HEAT_N];
extern const struct check system_checks[SYSTEM_N];

/* In the order of the output, ended by a subject without a name. */
extern const struct subject check_subjects[];

/* NULL for an unknown id. */
const struct check *check_find(const char *id);

#endif
