// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "irq-steer/service.h"
#include "unit/unit.h"

int service_read(const char *unit, char **ret)
{
	_cleanup_(unit_manager) struct unit_manager *manager = NULL;
	_cleanup_free_ char *state = NULL;
	char *text;
	int r;

	r = unit_open(&manager);
	if (r == 0)
		r = unit_read_state(manager, unit, &state);
	if (!state)
		return r == -ESRCH || r == -EOPNOTSUPP ? -ENOENT : r;
	text = strdup(unit_state_is_running(state) ? "running" : "stopped");
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

int service_write(const char *unit, const char *text)
{
	_cleanup_(unit_manager) struct unit_manager *manager = NULL;
	int r;

	r = unit_open(&manager);
	if (r < 0)
		return r;
	if (strcmp(text, "running") == 0)
		return unit_start(manager, unit);
	return strcmp(text, "stopped") == 0 ? unit_stop(manager, unit) : -EINVAL;
}

bool service_is_ours(const char *unit)
{
	return strcmp(unit, SERVICE_IRQBALANCE) == 0;
}
