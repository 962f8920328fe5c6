// SPDX-License-Identifier: GPL-2.0-or-later
/* The rest of the system: the clock, the hypervisor, other programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/clocksource.h"
#include "base/machine/procstat.h"
#include "base/machine/quota.h"
#include "base/machine/virtualization.h"
#include "base/text.h"
#include "base/where/cpuholder.h"
#include "look/isol-check/subjects.h"
#include "quiet/engine/journal.h"

#define CLOCK_DIR "/sys/devices/system/clocksource/clocksource0"

enum {
	BUSY_PERCENT = 5,
};

/* The first clock source that is not slow; the kernel lists the best first. NULL for none. Modifies
 * the text. */
static const char *find_fast_clock(char *available)
{
	char *save = NULL;

	for (const char *name = strtok_r(available, " ", &save); name;
		name = strtok_r(NULL, " ", &save))
		if (!clocksource_is_slow(name))
			return name;
	return NULL;
}

static void look_at_clock(struct host *host _unused_, struct finding *f)
{
	char current[FILE_ATTR_SIZE], available[FILE_ATTR_SIZE];
	const char *fast;

	finding_add_path(f, CLOCK_DIR "/current_clocksource");
	if (host_read_word(CLOCK_DIR "/current_clocksource", current) < 0)
		return;
	if (host_read(CLOCK_DIR "/available_clocksource", available) > 0 &&
		!text_has_word(available, current, " "))
		return;
	if (!clocksource_is_slow(current)) {
		finding_add(f, VERDICT_OK, "%s", current);
		return;
	}
	finding_add(f, VERDICT_NOISE, "%s: slow to read", current);
	if (host_read(CLOCK_DIR "/available_clocksource", available) <= 0)
		return;
	fast = find_fast_clock(available);
	if (fast)
		finding_add_fix(f, "echo %s > " CLOCK_DIR "/current_clocksource", fast);
	else
		finding_add(f, VERDICT_NOISE,
			"no fast one is left: dmesg tells whether the kernel has given up the tsc");
}

static void look_at_virtualization(struct host *host, struct finding *f)
{
	const char *hypervisor = host_hypervisor(host);
	_cleanup_free_ char *container = NULL;

	if (!host_options(host)->recorded)
		xcheck(virtualization_read_container(&container));
	/* This is no risk, because s390 and POWER have nothing closer to the hardware than a
	 * logical partition. */
	if (hypervisor && strcmp(hypervisor, "lpar") == 0)
		finding_add(f, VERDICT_INFO, "a logical partition");
	else if (hypervisor)
		finding_add(f, VERDICT_RISK, "%s: the host may take the CPUs away", hypervisor);
	if (container)
		finding_add(f, VERDICT_INFO, "in a container (%s): some knobs are the host's",
			container);
	if (!hypervisor && !container && host_hypervisor_is_told(host))
		finding_add(f, VERDICT_OK, "none to be seen");
	if (f->verdict == VERDICT_RISK)
		finding_add_fix(f, "measure on a machine of its own");
}

static double share(struct host *host, int64_t ns)
{
	return MIN(100.0 * (double)ns / (double)host_watched_ns(host), 100.0);
}

static void look_at_steal(struct host *host, struct finding *f)
{
	unsigned n_seen = 0, n_online = 0;
	int64_t since_boot = 0, most = 0;
	struct procstat_times times;
	bool watched = false;
	int worst = -1;

	finding_add_path(f, "/proc/stat");
	cpumask_for_each (cpu, host_cpus(host)) {
		/* Offline CPUs have no line in /proc/stat; the others should have one. */
		n_online += cpumask_isset(host_topology(host)->online, cpu);
		if (!host_first_times(host, cpu, &times))
			continue;
		n_seen++;
		since_boot += times.steal_ns;
		if (!host_watched_times(host, cpu, &times))
			continue;
		watched = true;
		if (times.steal_ns > most) {
			most = times.steal_ns;
			worst = cpu;
		}
	}
	if (n_seen == 0)
		return;
	if (n_seen < n_online)
		finding_add(f, VERDICT_UNKNOWN, "only %u of these CPUs are counted", n_seen);
	if (most > 0) {
		finding_add(f, VERDICT_NOISE, "%.1f %% of the time of CPU %d", share(host, most),
			worst);
		finding_set_worst_cpu(f, host, worst);
	} else if (since_boot > 0) {
		finding_add(f, VERDICT_RISK, "%s%.1f s since boot",
			watched ? "none at this moment, " : "", (double)since_boot / NSEC_PER_SEC);
	} else {
		finding_add(f, VERDICT_OK, "none since boot");
	}
	if (f->verdict > VERDICT_OK)
		finding_add_fix(f, "measure on a machine of its own");
}

static void look_at_quota(struct host *host, struct finding *f)
{
	unsigned n_cpus = cpumask_weight(host_cpus(host));
	char text[QUOTA_TEXT_SIZE], home[FILE_ATTR_SIZE];
	struct quota quota;

	finding_add_path(f, "/proc/self/cgroup");
	/* What stands there for a recording without it has no end of a line (sysroot.c). */
	if (host_options(host)->recorded && host_read("/proc/self/cgroup", home) < 0) {
		finding_add(f, VERDICT_UNKNOWN, "the recording lacks the cgroup of who made it");
		return;
	}
	xcheck(quota_read(0, &quota));
	if (quota.limit) {
		finding_add_path(f, "%s", quota.limit);
		finding_add(f, quota.cpus < n_cpus ? VERDICT_NOISE : VERDICT_RISK,
			"%s for this cgroup together, and so for all that is started from here",
			quota_format(quota.cpus, text));
		finding_add_fix(f,
			"measure in a cgroup without a quota (CPUQuota= of systemd, --cpus of a "
			"container)");
	}
	if (quota.is_hidden)
		finding_add(f, VERDICT_UNKNOWN, "%s",
			quota.limit ? "there may be others that cannot be seen from here"
				    : "there may be some that cannot be seen from here");
	else if (!quota.limit)
		finding_add(f, VERDICT_OK, "none");
	quota_clear(&quota);
}

/* Adds up to three tasks that run on the CPUs now: "cc1 (4711)". */
static void add_users(struct host *host, struct finding *f)
{
	const struct tasks *tasks = host_tasks(host);

	for (size_t i = 0, n = 0; tasks && i < tasks->n && n < 3; i++) {
		const struct task *task = &tasks->items[i];

		if (task->state != 'R' || task->pid == getpid() ||
			!cpumask_isset(host_cpus(host), task->cpu))
			continue;
		finding_add(f, VERDICT_OK, "%s (%d)", task->comm, task->tid);
		n++;
	}
}

static void look_at_load(struct host *host, struct finding *f)
{
	struct procstat_times times;
	char text[FILE_ATTR_SIZE];
	struct procstat_load load;
	int64_t most = -1;
	int worst = -1;

	if (host_read("/proc/loadavg", text) > 0 && procstat_parse_load(text, &load) == 0)
		finding_add(f, VERDICT_INFO, "load %.2f on %u CPUs", load.load1,
			cpumask_weight(host_topology(host)->online));
	if (host_options(host)->watch_ns == 0) {
		finding_add_not_watched(f, host);
		return;
	}
	cpumask_for_each (cpu, host_cpus(host)) {
		if (host_watched_times(host, cpu, &times) && times.busy_ns > most) {
			most = times.busy_ns;
			worst = cpu;
		}
	}
	if (worst < 0)
		return;
	finding_add_path(f, "/proc/stat");
	if (share(host, most) < BUSY_PERCENT) {
		finding_add(f, VERDICT_OK, "these are idle");
		return;
	}
	finding_add(f, VERDICT_NOISE, "CPU %d is %.0f %% busy", worst, share(host, most));
	finding_set_worst_cpu(f, host, worst);
	add_users(host, f);
	finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
}

/* Finds other programs that turn the same knobs. */
static void look_at_tuners(struct host *host, struct finding *f)
{
	/* Those that benchmark-tuners.service stops, and a few that it cannot or need not stop. A
	 * name has 15 bytes in /proc/PID/comm. */
	static const struct {
		const char *comm;
		const char *unit;
		bool of_user; /* a unit of the user's systemd */
	} daemons[] = {
		{ "tuned", "tuned" },
		{ "power-profiles-", "power-profiles-daemon" },
		{ "tuned-ppd", "tuned-ppd" },
		{ "thermald", "thermald" },
		{ "intel_lpmd", "intel_lpmd" },
		{ "gamemoded", "gamemoded", true },
		{ "auto-cpufreq", "auto-cpufreq" },
		{ "system76-power", "com.system76.PowerDaemon" },
		{ "cpufreqd", "cpufreqd" },
		{ "tlp-pd", "tlp-pd" },
		{ "ksmtuned", "ksmtuned" },
		{ "numad", "numad" },
	};
	/* Services without a process, which stay active: systemd has a link for each. */
	static const char *const services[] = { "cpupower", "tlp", "laptop-mode" };
	bool any = false;

	if (!host_tasks(host)) {
		finding_add_no_tasks(f, host);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(daemons); i++) {
		if (!host_find_process(host, daemons[i].comm))
			continue;
		any = true;
		finding_add(f, VERDICT_RISK, "%s runs", daemons[i].unit);
		finding_add_fix(f, "systemctl %sstop %s", daemons[i].of_user ? "--user " : "",
			daemons[i].unit);
	}
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		char path[64], id[64];

		snprintf(path, sizeof(path), "/run/systemd/units/invocation:%s.service",
			services[i]);
		if (readlink(path, id, sizeof(id)) < 0)
			continue;
		any = true;
		finding_add(f, VERDICT_RISK, "%s.service has set frequencies", services[i]);
		finding_add_path(f, "%s", path);
		finding_add_fix(f, "systemctl disable --now %s", services[i]);
	}
	if (!any && !host_sees_all_tasks(host))
		finding_add_few_tasks(f);
	else if (!any)
		finding_add(f, VERDICT_OK, "none of those known runs");
}

static void look_at_locks(struct host *host, struct finding *f)
{
	bool any = false;

	if (host_options(host)->recorded) {
		finding_add_no_tasks(f, host);
		return;
	}
	cpumask_for_each (cpu, host_cpus(host)) {
		struct cpuholder holder;
		int r = xcheck(cpuholder_find(cpu, &holder));

		if (r < 0 && r != -ENOENT)
			return;
		if (r < 0)
			continue;
		any = true;
		finding_add(f, VERDICT_RISK, "%s (%d) measures on CPU %d",
			holder.comm[0] ? holder.comm : "a process", holder.pid, cpu);
		finding_add_path(f, "/sys/devices/system/cpu/cpu%d", cpu);
	}
	if (any)
		finding_add_fix(f, "wait for it: runpinned does by itself");
	else if (!host_sees_all_tasks(host))
		/* /proc/locks leaves out locks of other PID namespaces. */
		finding_add_few_tasks(f);
	else
		finding_add(f, VERDICT_OK, "nobody measures here");
}

static const char *const setters[] = { "cpu-shield", "freq-pin", "irq-steer", "noise-off",
	"smt-off" };

/* The journals of the setters; NULL for one that does not exist or cannot be read. */
struct journals {
	struct journal *items[ARRAY_SIZE(setters)];
};

/* Whether another setter has set the knob `path` to the value `now`. */
static bool is_set_in_others(const struct journals *journals, const struct journal *own,
	const char *path, const char *now)
{
	for (size_t i = 0; i < ARRAY_SIZE(setters); i++) {
		const struct journal_entry *entry;

		if (!journals->items[i] || journals->items[i] == own)
			continue;
		entry = journal_find(journals->items[i], path);
		if (entry && (!entry->new || !knob_is_foreign(entry->kind, now, entry->new)))
			return true;
	}
	return false;
}

/* The path of the other file with the affinity of the same interrupt: one has a mask, the other a
 * list. malloc'd; NULL for any other knob. */
static char *format_other_affinity(const char *path)
{
	static const char mask[] = "/smp_affinity", list[] = "/smp_affinity_list";
	const char *name = strrchr(path, '/');
	char *other;

	if (!name || (strcmp(name, mask) != 0 && strcmp(name, list) != 0))
		return NULL;
	xcheck(text_format(
		&other, "%.*s%s", (int)(name - path), path, strcmp(name, mask) == 0 ? list : mask));
	return other;
}

/* Whether another setter has set the knob later, by either file of an affinity: smt-off keeps the
 * affinities of interrupts, which irq-steer then sets. */
static bool is_set_by_another(const struct journals *journals, const struct journal *own,
	const char *path, const char *now)
{
	_cleanup_free_ char *other = NULL;
	char text[FILE_ATTR_SIZE];

	if (is_set_in_others(journals, own, path, now))
		return true;
	other = format_other_affinity(path);
	return other && host_read(other, text) >= 0 && is_set_in_others(journals, own, other, text);
}

/* The number of knobs whose value is not the one that the setter has set, and the first of them.
 * Knobs that are no files, or do not exist any more, are left out. */
static size_t count_changed(
	const struct journals *journals, const struct journal *journal, const char **ret_first)
{
	size_t n = 0;

	for (size_t i = 0; i < journal->n; i++) {
		const struct journal_entry *entry = &journal->entries[i];
		char now[FILE_ATTR_SIZE];

		if (!entry->new || entry->path[0] != '/' || host_read(entry->path, now) < 0 ||
			!knob_is_foreign(entry->kind, now, entry->new) ||
			is_set_by_another(journals, journal, entry->path, now))
			continue;
		if (n++ == 0)
			*ret_first = entry->path;
	}
	return n;
}

/* NULL where there is no journal; also where it cannot be read, which is a finding. */
static struct journal *read_journal(struct finding *f, const char *tool)
{
	_cleanup_free_ char *why = NULL, *path = xptr(journal_format_path(tool));
	struct journal *journal;
	int r;

	r = xcheck(journal_read(tool, &journal, &why));
	if (r == -ENOENT)
		return NULL;
	finding_add_path(f, "%s", path);
	if (r == 0)
		return journal;
	if (r == -ESTALE) {
		finding_add(f, VERDICT_RISK, "%s: left by an earlier boot", tool);
		finding_add_fix(f, "%s restore", tool);
	} else if (r == -EBADMSG) {
		finding_add(f, VERDICT_RISK, "%s: damaged: %s", tool, why ? why : "?");
		finding_add_fix(f, "%s status", tool);
	} else {
		finding_add(f, VERDICT_UNKNOWN, "%s: %s", tool, strerror(-r));
	}
	return NULL;
}

static void look_at_journal(const struct journals *journals, size_t which, struct finding *f)
{
	const struct journal *journal = journals->items[which];
	const char *first = NULL;
	size_t n_changed;

	finding_add(f, VERDICT_INFO, "%s keeps %zu knobs", setters[which], journal->n);
	n_changed = count_changed(journals, journal, &first);
	if (n_changed == 0)
		return;
	finding_add(f, VERDICT_RISK, "%zu no longer ha%s the value that was set", n_changed,
		n_changed == 1 ? "s" : "ve");
	finding_add_path(f, "%s", first);
	finding_add_fix(f, "%s status", setters[which]);
}

static void look_at_journals(struct host *host, struct finding *f)
{
	struct journals journals = { 0 };

	if (host_options(host)->recorded) {
		finding_add(f, VERDICT_UNKNOWN, "a recorded machine has none");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(setters); i++)
		journals.items[i] = read_journal(f, setters[i]);
	for (size_t i = 0; i < ARRAY_SIZE(setters); i++)
		if (journals.items[i])
			look_at_journal(&journals, i, f);
	for (size_t i = 0; i < ARRAY_SIZE(setters); i++)
		journal_free(journals.items[i]);
	if (f->seen.length == 0)
		finding_add(f, VERDICT_OK, "no setter has changed anything");
}

const struct check system_checks[] = {
	{ "clocksource", look_at_clock,
		"The clock source of the kernel. Reading the CPU's own counter (tsc,\n"
		"arch_sys_counter) takes 20 to 40 ns; hpet and acpi_pm take a microsecond, and a\n"
		"system call. When the kernel finds that its tsc is unreliable, it switches to\n"
		"one of these, even during a run.\n"
		"Source: Documentation/timers/timekeeping.rst; kernel/time/clocksource.c." },
	{ "virtualization", look_at_virtualization,
		"In a virtual machine the host decides when a CPU runs, how fast, and what runs\n"
		"beside it; no setting inside changes that. Compare only runs that were measured\n"
		"alternately.\n"
		"Source: what the CPU, DMI and the clock sources tell;\n"
		"systemd.io/CONTAINER_INTERFACE." },
	{ "steal", look_at_steal,
		"Time in which a CPU was ready to run, but the host ran something else. It is\n"
		"counted in steps of 10 ms, and only where the host reports it: 0 proves\n"
		"nothing. The CPU that lost most while it was watched (--watch) is named.\n"
		"Source: proc(5) (/proc/stat)." },
	{ "quota", look_at_quota,
		"How much CPU time all that is started from here may have, with all else in its\n"
		"cgroup. When that is used up, none of it runs until the next period, which is\n"
		"usually 100 ms long: with 0.2 CPUs, 20 ms of work are followed by 80 ms of\n"
		"waiting. A quota of more than these CPUs is a risk, because others of the\n"
		"cgroup may use it up. In a container, limits further up may be out of sight.\n"
		"Tasks of SCHED_FIFO have no quota.\n"
		"Source: Documentation/scheduler/sched-bwc.rst; cpu.max (cgroup v2),\n"
		"cpu.cfs_quota_us (v1) of this cgroup and of all above it." },
	{ "load", look_at_load,
		"The load of the whole machine, and how busy the busiest of these CPUs was while\n"
		"they were watched (--watch). Programs on other CPUs take memory bandwidth,\n"
		"shared cache and power, and heat the package.\n"
		"Source: proc(5) (/proc/loadavg, /proc/stat).",
		.of_tasks = true },
	{ "tuners", look_at_tuners,
		"Programs that turn the same knobs at any time: power profiles, thermal daemons,\n"
		"game mode. They may undo the settings for the benchmark while it runs.\n"
		"Source: processes by their name; /run/systemd/units.",
		.of_tasks = true },
	{ "locks", look_at_locks,
		"Another benchmark on the same CPUs. runpinned holds a lock on each CPU that it\n"
		"measures on, and waits for one that is taken.\n"
		"Source: flock(2) on /sys/devices/system/cpu/cpuN; runpinned(1).",
		.of_tasks = true },
	{ "journals", look_at_journals,
		"What the setters of quiesce have changed and not put back (/run/quiesce). That\n"
		"is normal while a machine is meant to be quiet. It is not normal that a journal\n"
		"is damaged or of an earlier boot, or that a knob has another value than a\n"
		"setter has set: then somebody else turned it, and the machine is less quiet\n"
		"than it was made.\n"
		"Source: TOOL status, of each setter." },
	{ 0 },
};
