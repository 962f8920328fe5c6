// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/systemd/dropin.h"
#include "base/systemd/systemd.h"
#include "quiet/cpu-shield/shield.h"
#include "quiet/cpu-shield/slice.h"

int slice_write_dropin(const char *unit, const char *text)
{
	return dropin_write(unit, "cpu-shield", text);
}

int slice_read(const char *unit, char **ret)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	r = systemd_open(&manager);
	return r < 0 ? r : systemd_read_state(manager, unit, ret);
}

int slice_write(const char *unit, const char *text)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	r = systemd_open(&manager);
	if (r < 0)
		return r;
	if (strcmp(text, "active") == 0)
		return systemd_start(manager, unit);
	r = shield_check_empty();
	return r < 0 ? r : systemd_stop(manager, unit);
}

bool slice_is_ours(const char *unit)
{
	return strcmp(unit, SHIELD_UNIT) == 0;
}

int slice_can_partition(const char *unit, const char **ret_why)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	r = systemd_open(&manager);
	if (r < 0)
		*ret_why = r == -EOPNOTSUPP
			? "systemd manages the cgroups, and this was built without libsystemd"
			: "cannot reach systemd, which manages the cgroups";
	else
		r = systemd_has_property(manager, unit, "CPUSetPartition");
	return r;
}
