// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "look/isol-check/subjects.h"

const struct subject check_subjects[] = {
	{ "target", target_checks },
	{ "isolation", isolation_checks },
	{ "threads of a core", smt_checks },
	{ "frequency", frequency_checks },
	{ "idle states", idle_checks },
	{ "interrupts", interrupts_checks },
	{ "the kernel itself", kernel_checks },
	{ "what guides turn", guides_checks },
	{ "heat and power", heat_checks },
	{ "system", system_checks },
	{ 0 },
};

const struct check *check_find(const char *id)
{
	for (const struct subject *subject = check_subjects; subject->name; subject++)
		for (const struct check *check = subject->checks; check->id; check++)
			if (strcmp(check->id, id) == 0)
				return check;
	return NULL;
}
