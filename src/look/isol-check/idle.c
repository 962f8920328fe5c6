// SPDX-License-Identifier: GPL-2.0-or-later
/* How deep the CPUs sleep. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/cpuidle.h"
#include "base/machine/cpupower.h"
#include "base/text.h"
#include "look/isol-check/spread.h"
#include "look/isol-check/subjects.h"

#define CPUIDLE_DIR "/sys/devices/system/cpu/cpuidle"

static void look_at_driver(struct host *host, struct finding *f)
{
	char driver[FILE_ATTR_SIZE], governor[FILE_ATTR_SIZE];
	int r;

	r = host_read_word(CPUIDLE_DIR "/current_driver", driver);
	if (r == -ENOENT && host_hypervisor(host)) {
		finding_add(f, VERDICT_INFO, "none: the hypervisor puts CPUs to sleep");
		return;
	}
	finding_add_path(f, CPUIDLE_DIR "/current_driver");
	if (r < 0)
		return;
	if (host_read_word(CPUIDLE_DIR "/current_governor", governor) > 0 ||
		host_read_word(CPUIDLE_DIR "/current_governor_ro", governor) > 0)
		finding_add(f, VERDICT_INFO, "%s, governor %s", driver, governor);
	else
		finding_add(f, VERDICT_INFO, "%s", driver);
}

/* The deepest state that the CPU may enter; NULL if it may only poll. */
static const struct cpuidle_state *find_deepest(const struct cpuidle *cpuidle, int64_t limit_us)
{
	const struct cpuidle_state *deepest = NULL;

	for (unsigned i = 0; i < cpuidle->n; i++) {
		const struct cpuidle_state *state = &cpuidle->states[i];

		if (state->disabled || state->polling ||
			(limit_us != CPUIDLE_NO_LIMIT && state->latency_us > (uint64_t)limit_us))
			continue;
		deepest = state;
	}
	return deepest;
}

/* How often each idle state was entered, over all CPUs. */
struct entries {
	struct cpuidle states; /* of the first CPU */
	uint64_t n[CPUIDLE_STATES_MAX];
	bool any;
	bool unknown; /* a CPU has other states, or does not count */
};

static void entries_add(struct entries *entries, int cpu, const struct cpuidle *cpuidle)
{
	if (!entries->any)
		entries->states = *cpuidle;
	entries->any = true;
	entries->unknown = entries->unknown || cpuidle->n != entries->states.n;
	for (unsigned i = 0; i < cpuidle->n && !entries->unknown; i++) {
		const char *name = cpuidle->states[i].name;
		uint64_t usage = 0;

		entries->unknown = cpupower_read_idle_usage(cpu, i, &usage) < 0 || !name[0] ||
			strcmp(name, entries->states.states[i].name) != 0;
		entries->n[i] += usage;
	}
}

/* "POLL 2 %, C1 15 %, C6 83 %"; "" where nothing is known. malloc'd. */
static char *entries_format(const struct entries *entries)
{
	struct text t = { 0 };
	double all = 0;

	for (unsigned i = 0; i < entries->states.n; i++)
		all += (double)entries->n[i];
	for (unsigned i = 0; i < entries->states.n && all > 0 && !entries->unknown; i++)
		text_appendf(&t, "%s%s %.0f %%", i > 0 ? ", " : "", entries->states.states[i].name,
			(double)entries->n[i] * 100 / all);
	return xptr(text_steal(&t));
}

/* "POLL 0 us, C1 2 us, C6 85 us (disabled)"; malloc'd. */
static char *format_states(const struct cpuidle *cpuidle)
{
	struct text t = { 0 };

	for (unsigned i = 0; i < cpuidle->n; i++) {
		const struct cpuidle_state *state = &cpuidle->states[i];

		text_appendf(&t, "%s%s %" PRIu64 " us%s", i > 0 ? ", " : "",
			state->name[0] ? state->name : "a state without a name", state->latency_us,
			state->disabled ? " (disabled)" : "");
	}
	return xptr(text_steal(&t));
}

/* What is not known of CPUs. */
struct unseen {
	struct cpumask *cpus;
	int error; /* that of one of them */
};

/* The idle states of a CPU; NULL where they are not all known. */
static const struct cpuidle *find_states(struct host *host, int cpu, struct unseen *unseen)
{
	const struct cpuidle *cpuidle;
	int r = host_cpuidle(host, cpu, &cpuidle);

	if (r == 0 && !cpuidle->unread)
		return cpuidle;
	if (r != -ENOENT)
		unseen->error = r;
	(void)cpumask_set(unseen->cpus, cpu);
	return NULL;
}

/* Says why nothing is known of the idle states of any CPU. `error` is that of one of them. */
static void add_no_states(struct host *host, struct finding *f, int error)
{
	if (error == -EOPNOTSUPP)
		finding_add(f, VERDICT_UNKNOWN,
			"built without libcpupower, which reads the idle states");
	else if (error == -ENOENT && host_hypervisor(host))
		finding_add(f, VERDICT_UNKNOWN, "the hypervisor puts CPUs to sleep");
}

static void look_at_states(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *cpus = host_new_mask();
	struct unseen unseen = { .cpus = cpus, .error = -ENOENT };
	_cleanup_spread_ struct spread spread = { 0 };
	_cleanup_free_ char *states = NULL, *entered = NULL;
	struct entries entries = { 0 };
	int first = -1;

	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpuidle *cpuidle = find_states(host, cpu, &unseen);
		_cleanup_free_ char *text = NULL;

		if (!cpuidle)
			continue;
		first = first < 0 ? cpu : first;
		entries_add(&entries, cpu, cpuidle);
		text = format_states(cpuidle);
		spread_add(&spread, cpu, text);
	}
	if (first < 0) {
		add_no_states(host, f, unseen.error);
		return;
	}
	states = spread_format(&spread);
	entered = entries_format(&entries);
	finding_add_path(f, "/sys/devices/system/cpu/cpu%d/cpuidle", first);
	finding_add(f, VERDICT_INFO, "%s", states);
	if (*entered)
		finding_add(f, VERDICT_INFO, "entered since boot: %s", entered);
	finding_add_unseen(f, cpus, "the idle states");
}

static void look_at_depth(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *cpus = host_new_mask();
	struct unseen unseen = { .cpus = cpus, .error = -ENOENT };
	_cleanup_spread_ struct spread spread = { 0 };
	_cleanup_free_ char *text = NULL;
	bool deep = false;
	int first = -1;

	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpuidle *cpuidle = find_states(host, cpu, &unseen);
		const struct cpuidle_state *deepest;
		int64_t limit = CPUIDLE_NO_LIMIT;
		char buf[96];

		if (!cpuidle)
			continue;
		first = first < 0 ? cpu : first;
		(void)cpuidle_read_limit(cpu, &limit);
		deepest = find_deepest(cpuidle, limit);
		if (deepest)
			snprintf(buf, sizeof(buf), "%s, %" PRIu64 " us to wake up",
				deepest->name[0] ? deepest->name : "a state without a name",
				deepest->latency_us);
		else
			snprintf(buf, sizeof(buf), "polling only");
		deep = deep || (deepest && deepest->latency_us > CPUIDLE_HALT_US);
		spread_add(&spread, cpu, buf);
	}
	if (first < 0) {
		add_no_states(host, f, unseen.error);
		return;
	}
	text = spread_format(&spread);
	finding_add_path(f, "/sys/devices/system/cpu/cpu%d/cpuidle", first);
	finding_add_path(f, "/sys/devices/system/cpu/cpu%d/power/pm_qos_resume_latency_us", first);
	finding_add_unseen(f, cpus, "the idle states");
	if (deep) {
		finding_add(f, VERDICT_RISK, "down to %s", text);
		finding_add_fix(f, "noise-off -c %s --only pm_qos", host_cpus_text(host));
	} else {
		finding_add(f, VERDICT_OK, "%s", text);
	}
}

const struct check idle_checks[] = {
	{ "idle-driver", look_at_driver,
		"The driver that puts an idle CPU to sleep, and the governor that predicts for\n"
		"how long the CPU will be idle.\n"
		"Source: Documentation/admin-guide/pm/cpuidle.rst." },
	{ "idle-states", look_at_states,
		"The idle states of these CPUs, with the microseconds that it may take to leave\n"
		"them. A state that is disabled is not entered. POLL does not sleep at all. How\n"
		"often each one was entered since boot, of a hundred times, says how these CPUs\n"
		"have slept under what ran so far, and nothing of a benchmark that is to come.\n"
		"Source: Documentation/ABI/testing/sysfs-devices-system-cpu." },
	{ "idle-depth", look_at_depth,
		"The deepest idle state that a CPU may enter: one that its driver has and nobody\n"
		"has disabled, within the limit of pm_qos_resume_latency_us. Waking up from a\n"
		"deep state takes up to some hundred microseconds, and the caches are empty\n"
		"afterwards. A program that waits (for a disk, a lock, another program) is timed\n"
		"with that; a benchmark that never waits is not affected, except at its start.\n"
		"Not seen here is a limit that a program holds through /dev/cpu_dma_latency,\n"
		"which only root may read. It can only make the states shallower than shown.\n"
		"Source: Documentation/admin-guide/pm/cpuidle.rst;\n"
		"Documentation/ABI/testing/sysfs-devices-power." },
	{ 0 },
};
