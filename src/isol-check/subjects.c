// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "isol-check/subjects.h"

const struct subject check_subjects[] = {
	{ "target", target_checks, TARGET_N },
	{ "isolation", isolation_checks, ISOLATION_N },
	{ "threads of a core", smt_checks, SMT_N },
	{ "frequency", frequency_checks, FREQUENCY_N },
	{ "idle states", idle_checks, IDLE_N },
	{ "interrupts", interrupts_checks, INTERRUPTS_N },
	{ "the kernel itself", kernel_checks, KERNEL_N },
	{ "heat and power", heat_checks, HEAT_N },
	{ "system", system_checks, SYSTEM_N },
	{ 0 },
};

const struct check *check_find(const char *id)
{
	for (const struct subject *subject = check_subjects; subject->name; subject++)
		for (size_t i = 0; i < subject->n; i++)
			if (strcmp(subject->checks[i].id, id) == 0)
				return &subject->checks[i];
	return NULL;
}
