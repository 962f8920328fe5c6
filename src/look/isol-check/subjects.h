/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of checks, one for each subject. */
#ifndef QUIESCE_LOOK_ISOL_CHECK_SUBJECTS_H
#define QUIESCE_LOOK_ISOL_CHECK_SUBJECTS_H

#include "look/isol-check/check.h"

/* Each ended by a check without an id. */
extern const struct check target_checks[];
extern const struct check isolation_checks[];
extern const struct check smt_checks[];
extern const struct check frequency_checks[];
extern const struct check idle_checks[];
extern const struct check interrupts_checks[];
extern const struct check kernel_checks[];
extern const struct check guides_checks[];
extern const struct check heat_checks[];
extern const struct check system_checks[];

/* In the order of the output, ended by a subject without a name. */
extern const struct subject check_subjects[];

/* NULL for an unknown id. */
const struct check *check_find(const char *id);

#endif
