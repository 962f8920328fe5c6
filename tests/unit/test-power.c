// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine/power.h"
#include "base/macro.h"

#include "fake-machine.h"

struct supply {
	const char *name;
	/* NULL: no such file. */
	const char *type, *online, *status, *scope;
};

static void test_sources(_unused_ void **state)
{
	static const struct {
		struct supply supplies[3];
		enum power_source source;
	} cases[] = {
		{ { { NULL } }, POWER_NONE },
		{ { { "AC", "Mains\n", "1\n", NULL, NULL } }, POWER_AC },
		{ { { "AC", "Mains\n", "1\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Charging\n", NULL } },
			POWER_AC },
		/* A battery that helps out under full load. */
		{ { { "AC", "Mains\n", "1\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Discharging\n", NULL } },
			POWER_AC },
		{ { { "AC", "Mains\n", "0\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Discharging\n", NULL } },
			POWER_BATTERY },
		{ { { "AC", "Mains\n", "0\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Full\n", NULL } },
			POWER_AC },
		/* 2: programmable, counts as online. */
		{ { { "ucsi0", "USB\n", "2\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Discharging\n", NULL } },
			POWER_AC },
		{ { { "ucsi0", "USB\n", "0\n", NULL, NULL },
			  { "ucsi1", "USB\n", "1\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Discharging\n", NULL } },
			POWER_AC },
		/* A desktop with ports that could be fed. */
		{ { { "ucsi0", "USB\n", "0\n", NULL, NULL } }, POWER_AC },
		{ { { "BAT0", "Battery\n", NULL, "Discharging\n", NULL } }, POWER_BATTERY },
		{ { { "BAT0", "Battery\n", NULL, "Unknown\n", NULL } }, POWER_UNKNOWN },
		{ { { "AC", "Mains\n", "1\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Unknown\n", NULL } },
			POWER_AC },
		{ { { "ups0", "UPS\n", NULL, "Discharging\n", "System\n" } }, POWER_BATTERY },
		/* A mouse. */
		{ { { "hid0", "Battery\n", NULL, "Discharging\n", "Device\n" } }, POWER_NONE },
		{ { { "odd", NULL, "1\n", NULL, NULL } }, POWER_NONE },
		{ { { "odd", "Mains\n", "x\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "Discharging\n", NULL } },
			POWER_UNKNOWN },
		{ { { "BAT0", "Battery\n", NULL, NULL, NULL } }, POWER_UNKNOWN },
		{ { { "BAT0", "Battery\n", NULL, "Disch\n", NULL } }, POWER_UNKNOWN },
		{ { { "AC", "\n", "0\n", NULL, NULL } }, POWER_UNKNOWN },
		/* What one knows is enough. */
		{ { { "AC", "Mains\n", "1\n", NULL, NULL },
			  { "BAT0", "Battery\n", NULL, "\n", NULL } },
			POWER_AC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_machine_clear("/sys/class/");
		for (size_t k = 0; k < 3 && cases[i].supplies[k].name; k++) {
			const struct supply *supply = &cases[i].supplies[k];
			const char *texts[] = { supply->type, supply->online, supply->status,
				supply->scope };
			static const char *const files[] = { "type", "online", "status", "scope" };

			for (size_t n = 0; n < ARRAY_SIZE(files); n++) {
				char path[128];

				snprintf(path, sizeof(path), "/sys/class/power_supply/%s/%s",
					supply->name, files[n]);
				if (texts[n])
					assert_true(fake_machine_write(path, texts[n]));
			}
		}
		fprintf(stderr, "case %zu\n", i);
		assert_int_equal(power_read_source(), cases[i].source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
