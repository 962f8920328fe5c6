// SPDX-License-Identifier: GPL-2.0-or-later
#include "look/isol-check/subjects.h"

static void look_at_cpus(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *offline = host_new_mask();
	_cleanup_free_ char *list = NULL;
	unsigned n;

	finding_set_cpus(f, host_cpus(host));
	finding_add(f, VERDICT_INFO, "%s (%s)", host_cpus_text(host), host_cpus_reason(host));
	if (cpumask_isset(host_cpus(host), 0)) {
		finding_add(f, VERDICT_RISK, "CPU 0 does most of the kernel's own work");
		/* No advice if all online CPUs are to be quiet: then there is no choice. */
		cpumask_and(offline, host_cpus(host), host_topology(host)->online);
		n = cpumask_weight(offline);
		if (n > 0 && n < cpumask_weight(host_topology(host)->online))
			finding_add_fix(f, "isol-check --pick=%u", n);
	}
	cpumask_andnot(offline, host_cpus(host), host_topology(host)->online);
	if (cpumask_is_empty(offline))
		return;
	list = xptr(cpumask_format_list(offline));
	finding_add(f, VERDICT_RISK, "offline: %s", list);
	finding_add_path(f, "/sys/devices/system/cpu/online");
}

const struct check target_checks[] = {
	{ "cpus", look_at_cpus,
		"Which CPUs all other checks are about: those of -c, else those of the running\n"
		"benchmark.target, else those that are isolated, else the one that runpinned(1)\n"
		"would take, but not CPU 0 when the others are busy: their load can be moved.\n"
		"CPU 0 is a bad choice: it boots the machine, and timekeeping, the first\n"
		"interrupts of most drivers and work that is queued anywhere end up there. It\n"
		"cannot be tickless (nohz_full takes it out of the list) and on x86 it cannot go\n"
		"offline.\n"
		"Source: Documentation/timers/no_hz.rst; kernel/time/tick-sched.c." },
	{ 0 },
};
