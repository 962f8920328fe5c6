// SPDX-License-Identifier: GPL-2.0-or-later
/* Which tasks may run on the CPUs, and when the kernel does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/where/reserved.h"
#include "look/isol-check/cmdline.h"
#include "look/isol-check/subjects.h"
#include "quiet/engine/cleared.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* Adds a finding for each cpuset in this state, and removes its CPUs from `remaining`. Returns
 * whether there was one. */
static bool add_cpusets(struct host *host, struct finding *f, const char *state, const char *words,
	struct cpumask *remaining)
{
	const struct isolation_partitions *partitions = host_partitions(host);
	bool found = false;

	for (size_t i = 0; i < partitions->n; i++) {
		const struct isolation_partition *p = &partitions->items[i];

		if (strcmp(p->state, state) != 0 || !cpumask_intersects(p->cpus, host_cpus(host)))
			continue;
		finding_add(f, VERDICT_OK, "%s %s", words, p->path);
		cpumask_andnot(remaining, remaining, p->cpus);
		found = true;
	}
	return found;
}

/* Where there is no partition, cpu-shield moves all threads away by their affinities. The journal
 * is that of this machine, and not of a recorded one. */
static void add_cleared(struct host *host, struct finding *f, struct cpumask *remaining)
{
	_cleanup_(cpumask) struct cpumask *cleared = NULL;
	_cleanup_free_ char *list = NULL;

	if (host_options(host)->recorded || xcheck(cleared_read(&cleared)) < 0 ||
		!cpumask_intersects(cleared, remaining))
		return;
	cpumask_and(cleared, cleared, remaining);
	list = xptr(cpumask_format_list(cleared));
	finding_add(f, VERDICT_RISK,
		"CPU %s: kept clear by affinities: tasks that ask for it may still go there", list);
	cpumask_andnot(remaining, remaining, cleared);
}

/* The CPUs of cpu-shield's exclusive cpuset of cgroup v1: although the root cpuset balances load
 * over them, no program is in it. NULL where there is none, and on a recorded machine, whose
 * recording does not tell whether the shield was whole. */
static struct cpumask *read_reserved(struct host *host)
{
	struct cpumask *reserved = NULL;

	if (!host_options(host)->recorded)
		(void)xcheck(reserved_read_cpus(&reserved));
	return reserved;
}

static void add_reserved(struct host *host, struct finding *f, struct cpumask *remaining)
{
	_cleanup_(cpumask) struct cpumask *reserved = read_reserved(host);

	if (!reserved || !cpumask_intersects(reserved, remaining))
		return;
	finding_add(f, VERDICT_OK,
		"by the cpuset " RESERVED_CPUSET ", with all other programs in " RESERVED_OTHERS);
	cpumask_andnot(remaining, remaining, reserved);
}

static void look_at_isolated(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *remaining = host_new_mask();
	const struct isolation *isolation = host_isolation(host);
	const struct isolation_partitions *partitions = host_partitions(host);
	_cleanup_free_ char *list = NULL;

	cpumask_assign(remaining, host_cpus(host));
	if (cpumask_intersects(isolation->boot, remaining))
		finding_add(f, VERDICT_OK, "by the boot parameter isolcpus");
	cpumask_andnot(remaining, remaining, isolation->boot);
	if (!add_cpusets(host, f, "isolated", "by the isolated partition", remaining) &&
		cpumask_intersects(isolation->partitions, remaining))
		finding_add(f, VERDICT_OK, "by an isolated partition");
	cpumask_andnot(remaining, remaining, isolation->partitions);
	(void)add_cpusets(host, f, "root", "for one cgroup alone:", remaining);
	(void)add_cpusets(host, f, "exclusive", "by the cpuset", remaining);
	add_reserved(host, f, remaining);
	add_cleared(host, f, remaining);
	if (cpumask_is_empty(remaining))
		return;
	list = xptr(cpumask_format_list(remaining));
	finding_set_cpus(f, remaining);
	finding_add_path(f, CPU_DIR "/isolated");
	/* If the kernel does not tell which CPUs are isolated, these may be isolated. */
	if (isolation->boot_error < 0) {
		finding_add(f, VERDICT_UNKNOWN, "CPU %s: the machine does not tell", list);
		return;
	}
	if (partitions->n_unread > 0) {
		finding_add_path(f, "/sys/fs/cgroup");
		finding_add(
			f, VERDICT_UNKNOWN, "CPU %s: there are cgroups that cannot be read", list);
		return;
	}
	finding_add(f, VERDICT_NOISE, "CPU %s: the scheduler puts any task there", list);
	finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
}

/* Says that a parameter of the boot line was given again with another value. */
static void add_others(struct finding *f, const struct bootline_list *list, const char *name)
{
	if (!list->others)
		return;
	finding_add(f, VERDICT_RISK,
		"%s= is given again with another value, and for each purpose the kernel takes the "
		"first",
		name);
	finding_add_fix(f, "a boot line with one %s=", name);
}

/* Whether the kernel shows that it has not isolated all CPUs of the boot line. */
static bool is_not_isolated(struct host *host, const struct cpumask *cpus)
{
	const struct isolation *isolation = host_isolation(host);

	return isolation->boot_error == 0 && !cpumask_subset(cpus, isolation->boot);
}

static void look_at_isolcpus(struct host *host, struct finding *f)
{
	const struct bootline *b = host_bootline(host);

	finding_add_path(f, "/proc/cmdline");
	if (!b)
		return;
	if (!b->isolcpus.text) {
		finding_add(f, VERDICT_INFO, "not on the boot line");
		return;
	}
	/* `domain` is what no flag at all means. */
	finding_add(f, VERDICT_INFO, "isolcpus=%s%s%s%s", b->nohz ? "nohz," : "",
		b->domain && *b->isolcpus.text ? "domain," : "",
		b->managed_irq ? "managed_irq," : "", b->isolcpus.text);
	if (b->isolcpus.refused) {
		finding_add(f, VERDICT_RISK,
			"the machine does not have all these CPUs, and the kernel refuses such a list");
		cmdline_advise(host, f);
	} else if (cpumask_is_empty(b->isolcpus.cpus)) {
		finding_add(f, VERDICT_RISK, "that names no CPU");
		cmdline_advise(host, f);
	} else if (!b->domain) {
		finding_add(
			f, VERDICT_RISK, "with flags, and without `domain`, it keeps no task away");
		cmdline_advise(host, f);
	} else if (is_not_isolated(host, b->isolcpus.cpus)) {
		finding_add_path(f, CPU_DIR "/isolated");
		finding_add(f, VERDICT_RISK, "the kernel has not isolated all of them");
		finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
	}
	add_others(f, &b->isolcpus, "isolcpus");
}

static void look_at_partitions(struct host *host, struct finding *f)
{
	const struct isolation_partitions *partitions = host_partitions(host);
	_cleanup_(cpumask) struct cpumask *reserved = NULL;
	bool any_bad = false;

	reserved = read_reserved(host);
	for (size_t i = 0; i < partitions->n; i++) {
		const struct isolation_partition *p = &partitions->items[i];
		_cleanup_free_ char *list = xptr(cpumask_format_list(p->cpus));
		bool ours = reserved && strcmp(p->path, "/" TARGET_SLICE) == 0;
		bool bad = strstr(p->state, "invalid") || (strstr(p->state, ", balanced") && !ours);

		finding_add(f, bad ? VERDICT_RISK : VERDICT_INFO, "%s: %s%s%s", p->path, p->state,
			*list ? ", CPUs " : "", list);
		if (strstr(p->state, "invalid"))
			finding_add_path(f, "/sys/fs/cgroup%s/cpuset.cpus.partition", p->path);
		any_bad = any_bad || bad;
	}
	if (any_bad)
		finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
	if (partitions->n_unread > 0)
		finding_add(f, VERDICT_UNKNOWN, "files of cgroups that cannot be read: %zu",
			partitions->n_unread);
	if (partitions->n > 0)
		return;
	finding_add_path(f, "/sys/fs/cgroup");
	if (partitions->n_unread > 0)
		return;
	if (access("/sys/fs/cgroup/cgroup.procs", F_OK) == 0 ||
		access("/sys/fs/cgroup/cpuset", F_OK) == 0 ||
		access("/sys/fs/cgroup/unified", F_OK) == 0)
		finding_add(f, VERDICT_INFO, "no cpuset keeps CPUs to itself");
}

/* --- Tasks. --- */

/* A few names, each once, as in "bash, cc1 and others". How many others there are is not known:
 * those behind the first few may share a name. */
struct names {
	const char *items[4];
	size_t n;
	bool are_more;
};

static void names_add(struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return;
	if (names->n < ARRAY_SIZE(names->items))
		names->items[names->n++] = name;
	else
		names->are_more = true;
}

static char *names_format(const struct names *names)
{
	struct text text = { 0 };

	for (size_t i = 0; i < names->n; i++)
		text_append_name(&text, i, names->n, "%s", names->items[i]);
	if (names->are_more)
		text_append(&text, " and others");
	return xptr(text_steal(&text));
}

static void look_at_tasks(struct host *host, struct finding *f)
{
	const struct tasks *tasks = host_tasks(host);
	struct names names = { 0 };
	size_t n_may = 0, n_was = 0, n_running = 0;
	pid_t self = getpid();
	_cleanup_free_ char *list = NULL;

	if (!tasks) {
		finding_add_no_tasks(f, host);
		return;
	}
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];
		bool was = cpumask_isset(host_cpus(host), task->cpu);

		if (task->kernel || task->dead || !task->may || task->pid == self)
			continue;
		n_may++;
		n_was += was;
		n_running += was && task->state == 'R';
		if (was)
			names_add(&names, task->comm);
	}
	list = names_format(&names);
	if (n_may == 0 && !host_sees_all_tasks(host))
		finding_add_few_tasks(f);
	else if (n_may == 0)
		finding_add(f, VERDICT_OK, "no task of a program may run here");
	else if (n_was == 0)
		finding_add(f, VERDICT_RISK, "%zu tasks may run here; none ran here last", n_may);
	else
		finding_add(f, VERDICT_NOISE,
			"%zu tasks may run here, %zu ran here last, %zu now: %s", n_may, n_was,
			n_running, list);
	if (tasks->n_hidden > 0)
		finding_add(f, n_may == 0 ? VERDICT_UNKNOWN : VERDICT_INFO,
			"%zu processes cannot be seen", tasks->n_hidden);
	if (n_may > 0)
		finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
}

static void look_at_kthreads(struct host *host, struct finding *f)
{
	const struct tasks *tasks = host_tasks(host);
	struct names names = { 0 };
	size_t n_bound = 0, n_movable = 0;
	_cleanup_free_ char *list = NULL;

	if (!tasks) {
		finding_add_no_tasks(f, host);
		return;
	}
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		/* Unbound workers are the subject of the check `workqueue`. */
		if (!task->kernel || !task->may || (task->worker && !task->only))
			continue;
		if (task->bound) {
			n_bound++;
			continue;
		}
		n_movable++;
		names_add(&names, task->comm);
	}
	list = names_format(&names);
	if (!host_sees_all_tasks(host)) {
		finding_add(f, VERDICT_UNKNOWN,
			"none can be seen here, although there are always some");
		return;
	}
	if (n_movable > 0) {
		finding_add(f, VERDICT_RISK, "%zu movable kernel thread%s may run here: %s",
			n_movable, n_movable == 1 ? "" : "s", list);
		finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
	}
	finding_add(f, VERDICT_OK, "%zu belong to these CPUs and cannot be moved", n_bound);
}

/* --- The tick. --- */

/* Whether all the CPUs are in the mask; *ret_missing: those that are not. */
static bool is_covered(struct host *host, const struct cpumask *mask, struct cpumask *ret_missing)
{
	cpumask_andnot(ret_missing, host_cpus(host), mask);
	return cpumask_is_empty(ret_missing);
}

static void look_at_nohz_full(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *missing = host_new_mask();
	const struct isolation *isolation = host_isolation(host);
	const struct bootline *b = host_bootline(host);
	_cleanup_free_ char *list = NULL;

	if (isolation->nohz_full_error == -ENOENT && host_is_whole(host)) {
		finding_add(f, VERDICT_INFO, "no such file: this kernel always has its tick");
		return;
	}
	finding_add_path(f, CPU_DIR "/nohz_full");
	if (isolation->nohz_full_error < 0)
		return;
	if (b && b->nohz_full.others) {
		finding_add_path(f, "/proc/cmdline");
		add_others(f, &b->nohz_full, "nohz_full");
	}
	if (is_covered(host, isolation->nohz_full, missing)) {
		finding_add(f, VERDICT_OK, "no tick while one task runs there");
		return;
	}
	if (cpumask_is_empty(isolation->nohz_full)) {
		finding_add(f, VERDICT_INFO,
			"the tick runs, 100 to 1000 times a second, as CONFIG_HZ says");
		return;
	}
	list = xptr(cpumask_format_list(missing));
	finding_set_cpus(f, missing);
	finding_add(f, VERDICT_RISK, "covers other CPUs, but not %s", list);
	cmdline_advise(host, f);
}

/* Whether the kernel was built with CONFIG_RCU_NOCB_CPU: CONFIG_NO_HZ_FULL, which has a file,
 * selects it, and what it does is done by kernel threads (rcuog/N, rcuop/N;
 * kernel/rcu/tree_nocb.h). */
static bool knows_rcu_nocbs(struct host *host)
{
	const struct isolation *isolation = host_isolation(host);
	const struct tasks *tasks = host_tasks(host);

	if (isolation->nohz_full_error != -ENOENT)
		return true;
	for (size_t i = 0; tasks && i < tasks->n; i++) {
		if (tasks->items[i].kernel && text_starts_with(tasks->items[i].comm, "rcuo"))
			return true;
	}
	return false;
}

/* nohz_full implies rcu_nocbs for the same CPUs (kernel/rcu/tree_nocb.h: rcu_init_nohz()). */
static void look_at_rcu_nocbs(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *missing = host_new_mask();
	const struct isolation *isolation = host_isolation(host);
	const struct bootline *b = host_bootline(host);
	_cleanup_free_ char *list = NULL;
	bool by_tick;

	finding_add_path(f, "/proc/cmdline");
	if (!b)
		return;
	cpumask_or(missing, isolation->nohz_full, b->rcu_nocbs.cpus);
	by_tick = cpumask_subset(host_cpus(host), isolation->nohz_full);
	if (is_covered(host, missing, missing)) {
		if (by_tick || knows_rcu_nocbs(host))
			finding_add(f, VERDICT_OK, "RCU callbacks run on other CPUs (%s)",
				cpumask_subset(host_cpus(host), b->rcu_nocbs.cpus)
					? "rcu_nocbs"
					: "by nohz_full");
		else if (host_sees_all_tasks(host))
			finding_add(f, VERDICT_RISK,
				"rcu_nocbs is on the boot line, but this kernel does not know it");
		else
			finding_add(f, VERDICT_UNKNOWN,
				"rcu_nocbs is on the boot line; whether this kernel knows it cannot "
				"be seen");
		return;
	}
	if (!host_knows_nohz_full(host)) {
		finding_add_path(f, CPU_DIR "/nohz_full");
		finding_add(f, VERDICT_UNKNOWN,
			"not by rcu_nocbs; whether by nohz_full cannot be seen");
		return;
	}
	if (!b->rcu_nocbs.text) {
		finding_add(f, VERDICT_INFO, "RCU callbacks run where they arise");
		return;
	}
	list = xptr(cpumask_format_list(missing));
	finding_set_cpus(f, missing);
	finding_add(f, VERDICT_RISK, "rcu_nocbs=%s does not cover %s", b->rcu_nocbs.text, list);
	cmdline_advise(host, f);
}

/* Only intel_pstate is affected: in its passive mode, intel_cpufreq, a governor sets the frequency,
 * and requests the updates itself. */
static void look_at_nohz_pstate(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *at_risk = host_new_mask();
	const struct isolation *isolation = host_isolation(host);
	const struct bootline *b = host_bootline(host);
	_cleanup_free_ char *list = NULL;
	bool intel = false, known = false;

	cpumask_and(at_risk, host_cpus(host), isolation->nohz_full);
	if (cpumask_is_empty(at_risk)) {
		if (host_knows_nohz_full(host))
			finding_add(f, VERDICT_OK, "not with nohz_full");
		else
			finding_add_path(f, CPU_DIR "/nohz_full");
		return;
	}
	cpumask_for_each (cpu, at_risk) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);

		/* Without the driver and the limits, nothing can be said. */
		if (policy && (!policy->driver[0] || policy->max_khz == 0)) {
			finding_add_path(f, CPU_DIR "/cpu%d/cpufreq/%s", cpu,
				policy->driver[0] ? "scaling_max_freq" : "scaling_driver");
			return;
		}
		if (!policy || strcmp(policy->driver, "intel_pstate") != 0 ||
			(policy->min_khz > 0 && policy->min_khz == policy->max_khz))
			cpumask_clear(at_risk, cpu);
		known = known || policy;
		intel = intel || (policy && strcmp(policy->driver, "intel_pstate") == 0);
	}
	if (!intel) {
		if (known || host_is_whole(host))
			finding_add(f, VERDICT_OK, "not with intel_pstate");
		return;
	}
	if (cpumask_is_empty(at_risk)) {
		finding_add(f, VERDICT_OK, "the frequency is fixed");
		return;
	}
	if (!b)
		return;
	if (cpumask_subset(at_risk, b->rcu_nocbs.cpus)) {
		finding_add(f, VERDICT_OK, "rcu_nocbs is set, too");
		return;
	}
	list = xptr(cpumask_format_list(at_risk));
	finding_set_cpus(f, at_risk);
	finding_add(f, VERDICT_RISK,
		"nohz_full with intel_pstate, a range of frequencies and no rcu_nocbs: runs can "
		"suddenly be twice as fast or slow");
	finding_add_path(f, CPU_DIR "/nohz_full");
	finding_add_path(f, "/proc/cmdline");
	finding_add_fix(f, "the boot parameter rcu_nocbs=%s", list);
	finding_add_fix(f, "freq-pin -c %s", list);
}

const struct check isolation_checks[] = {
	{ "isolated", look_at_isolated,
		"Whether the scheduler leaves the CPUs alone. On a CPU that is not isolated, any\n"
		"program that wakes up may run in place of the benchmark: a run is then longer\n"
		"by milliseconds, its caches are cold, and it may be moved to another core.\n"
		"There are three ways to isolate CPUs: the boot parameter isolcpus (shown in\n"
		"/sys/devices/system/cpu/isolated); a cgroup v2 partition of type isolated (not\n"
		"shown there on any kernel); an exclusive cgroup v1 cpuset below a root without\n"
		"load balancing. A partition of type root keeps other tasks away, too, but\n"
		"balances the load of its own. Kernels from 7.0 on advise partitions rather than\n"
		"isolcpus.\n"
		"Source: Documentation/admin-guide/cgroup-v2.rst, kernel-parameters.txt\n"
		"(isolcpus), cpu-isolation.rst, cgroup-v1/cpusets.rst." },
	{ "isolcpus", look_at_isolcpus,
		"The boot line. isolcpus takes flags before its list: domain (no task is placed\n"
		"there), nohz (as nohz_full), managed_irq (interrupts that only the kernel can\n"
		"move stay away). Without any flag it means domain. With flags it means only\n"
		"these, so that isolcpus=managed_irq,3 does not keep tasks away. Where it is\n"
		"given again with other CPUs, the kernel keeps those it was given first.\n"
		"Source: kernel/sched/isolation.c: housekeeping_isolcpus_setup(),\n"
		"housekeeping_setup()." },
	{ "partitions", look_at_partitions,
		"All cpusets that have CPUs to themselves. A partition that\n"
		"reads `invalid` isolates nothing, although the write succeeded; the reason\n"
		"follows in parentheses. In v1, an exclusive cpuset keeps other cpusets out, but\n"
		"not the tasks of the root while the root's cpuset.sched_load_balance is 1.\n"
		"Source: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cpusets.rst." },
	{ "tasks", look_at_tasks,
		"Which threads of programs may run on the CPUs, and which of them ran there\n"
		"last. This tests whether the isolation works: on an isolated CPU there are only\n"
		"threads that were put there on purpose. Any other thread that runs there takes\n"
		"up to some milliseconds (a time slice), and fills the caches with its own data.\n"
		"Source: sched_getaffinity(2), field 39 of /proc/PID/stat (proc(5)).",
		.of_tasks = true },
	{ "kthreads", look_at_kthreads,
		"Kernel threads. Some belong to a CPU (migration/3, ksoftirqd/3, cpuhp/3) and\n"
		"cannot be moved: they sleep unless that CPU gives them work. Others may run\n"
		"anywhere: kswapd, khugepaged, jbd2, threads of drivers. From 6.12 on, isolated\n"
		"partitions move those that can be moved.\n"
		"Source: Documentation/admin-guide/kernel-per-CPU-kthreads.rst.",
		.of_tasks = true },
	{ "nohz-full", look_at_nohz_full,
		"The timer interrupt comes 100 to 1000 times a second (CONFIG_HZ), and takes\n"
		"some microseconds each time: 0.1 to 0.5 per cent of a run, evenly spread, so it\n"
		"shifts results more than it scatters them. With nohz_full the tick stops while\n"
		"only one task runs, except for one tick a second that another CPU handles; each\n"
		"system call then costs some hundred nanoseconds more. It can only be set at\n"
		"boot.\n"
		"Source: Documentation/timers/no_hz.rst." },
	{ "rcu-nocbs", look_at_rcu_nocbs,
		"Memory that the kernel may free only after all readers are gone (RCU) is freed\n"
		"on the CPU that gave it up, in a softirq that interrupts the benchmark: for\n"
		"microseconds, sometimes for milliseconds after many files were closed. With\n"
		"rcu_nocbs, threads on other CPUs do that. nohz_full implies it for the same\n"
		"CPUs. It can only be set at boot.\n"
		"Source: Documentation/admin-guide/kernel-parameters.txt;\n"
		"kernel/rcu/tree_nocb.h." },
	{ "nohz-pstate", look_at_nohz_pstate,
		"intel_pstate in active mode reads a CPU's load and sets its frequency when the\n"
		"tick updates the clock of the scheduler. With nohz_full there is no tick, so a\n"
		"CPU can stay at any frequency until an unrelated event changes it: a benchmark\n"
		"is then suddenly twice as fast, or as slow, for minutes. There are two\n"
		"remedies: rcu_nocbs for these CPUs on the boot line, as pyperf advises, or a\n"
		"fixed frequency (freq-pin), which benchmarks need anyway.\n"
		"Source: drivers/cpufreq/intel_pstate.c: intel_pstate_update_util(); pyperf's\n"
		"documentation (Tune the system for benchmarks)." },
	{ 0 },
};
