// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "base/machine/isolation.h"
#include "base/say.h"
#include "base/where/autochoice.h"
#include "base/xalloc.h"
#include "look/isol-check/pick.h"

int pick_choose(const struct topology *topology, bool recorded, bool spare_zero, unsigned n,
	struct cpumask *ret, char **ret_reason)
{
	_cleanup_(cpumask) struct cpumask *allowed = NULL;
	_cleanup_free_ char *why = NULL;
	int r = 0;

	xcheck(cpumask_new(&allowed));
	if (recorded)
		cpumask_assign(allowed, topology->online);
	else
		r = xcheck(isolation_read_allowed(allowed));
	if (r < 0) {
		say_errno(r, "cannot find out which CPUs are allowed here");
		return r;
	}
	r = xcheck(autochoice_now(topology, allowed, spare_zero, n, ret, ret_reason, &why));
	if (why)
		say("%s", why);
	else if (r < 0)
		say_errno(r, "cannot choose a CPU");
	return r;
}

int pick_run(unsigned n, bool recorded, bool verbose)
{
	_cleanup_(topology) struct topology *topology = NULL;
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *list = NULL, *reason = NULL;
	int r;

	r = xcheck(topology_read(recorded, &topology));
	if (r < 0) {
		say_errno(r, "cannot read which CPUs this machine has");
		return r;
	}
	xcheck(cpumask_new(&cpus));
	r = pick_choose(topology, recorded, false, n, cpus, &reason);
	if (r < 0)
		return r;
	list = xptr(cpumask_format_list(cpus));
	if (verbose)
		say("%s", reason);
	xprint(stdout, "%s\n", list);
	return print_finish(stdout);
}
