// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>
#include <string.h>

#include "base/machine/clocksource.h"
#include "base/macro.h"

bool clocksource_is_slow(const char *name)
{
	static const char *const slow[] = { "hpet", "acpi_pm", "pit", "jiffies",
		"refined-jiffies" };

	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		if (strcmp(name, slow[i]) == 0)
			return true;
	return false;
}
