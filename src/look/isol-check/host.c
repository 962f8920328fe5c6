// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/machine/virtualization.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "base/where/cpulist.h"
#include "base/where/running.h"
#include "look/isol-check/host.h"
#include "look/isol-check/pick.h"
#include "look/isol-check/touching.h"

enum {
	TABLE_MAX = 64 * 1024 * 1024,
};

struct host {
	struct host_options options;
	struct cpumask *cpus;
	char *cpus_text;
	char *cpus_reason;
	struct topology *topology;
	struct isolation *isolation;
	struct bootline *bootline;
	struct isolation_partitions partitions;
	/* Tasks are read by a thread, because that takes the longest. */
	struct {
		pthread_t thread;
		bool has_thread; /* the thread has to be joined */
		struct tasks *tasks;
		int error;
	} tasks;
	/* Both by CPU number; NULL until the first one is asked for. */
	struct policy {
		struct cpufreq_policy_info info;
		int error;
		bool is_read;
	} * policies;
	struct idle {
		struct cpuidle cpuidle;
		int error;
		bool is_read;
	} * idle;
	struct touching *touching; /* NULL until somebody asks for them */
	const char *hypervisor;
	/* So that something that does not exist is not searched for again. */
	bool has_read_bootline;
	bool has_read_partitions;
	bool has_read_hypervisor;
	bool hypervisor_is_told;
	struct {
		char *table; /* the first text of /proc/interrupts; NULL: could not be read */
		struct interrupts *interrupts; /* of `busiest`; NULL: nothing to compare */
		int busiest;
		/* By CPU number; NULL: could not be read. An offline CPU has n_cpus 0. */
		struct procstat_times *before;
		struct procstat_times *after;
		int64_t began;
		int64_t ns; /* 0 until the second reading */
	} watch;
};

/* The CPUs of the running target; -ENOENT when none runs. */
static int take_target(struct host *host)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	int r;

	if (host->options.recorded)
		return -ENOENT;
	r = xcheck(running_read_cpus(&cpus));
	/* Other errors do not mean that no target runs; taking them so would check CPUs that are
	 * not quiet. */
	if (r < 0 && r != -ENOENT)
		say_errno(r, "cannot read " TARGET_FILE);
	if (r < 0)
		return r;
	cpumask_assign(host->cpus, cpus);
	host->cpus_reason = xptr(strdup("those of benchmark.target"));
	return 0;
}

/*
 * The CPUs of the running target, else the isolated CPUs, else the best one. Advice is given how to
 * make it quiet, by which its load goes elsewhere. So CPU 0 is not taken because the others are
 * busy: the kernel's work there stays.
 */
static int choose_default(struct host *host)
{
	const struct isolation *isolation;
	int r;

	r = take_target(host);
	if (r != -ENOENT)
		return r;
	isolation = host_isolation(host);
	cpumask_and(host->cpus, isolation->isolated, host->topology->online);
	if (cpumask_is_empty(host->cpus))
		return pick_choose(host->topology, host->options.recorded, true, 1, host->cpus,
			&host->cpus_reason);
	host->cpus_reason = xptr(strdup("all that are isolated"));
	return 0;
}

static int choose_cpus(struct host *host)
{
	_cleanup_free_ char *why = NULL;
	int r;

	if (host->options.cpus) {
		r = xcheck(cpulist_parse(host->options.cpus, host->topology, host->cpus, &why));
		if (r < 0)
			say("-c: %s", why);
		host->cpus_reason = xptr(strdup("as asked"));
	} else {
		r = choose_default(host);
	}
	if (r == 0)
		host->cpus_text = xptr(cpumask_format_list(host->cpus));
	return r;
}

/* Compares /proc/interrupts with its first text. */
static void finish_interrupts(struct host *host)
{
	_cleanup_(interrupts) struct interrupts *interrupts = NULL;
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask();
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r, cpu;

	r = xcheck(file_read_all(INTERRUPTS_PATH, TABLE_MAX, &text, &length));
	if (r == 0)
		r = xcheck(interrupts_find_busiest(host->cpus, host->watch.table, text, &cpu));
	if (r == 0)
		r = cpumask_set(mask, cpu);
	if (r == 0)
		r = xcheck(interrupts_new(mask, &interrupts));
	if (r == 0)
		r = xcheck(interrupts_read_text(
			interrupts, host->watch.table, strlen(host->watch.table)));
	if (r == 0)
		r = xcheck(interrupts_read_text(interrupts, text, length));
	if (r < 0)
		return;
	host->watch.interrupts = TAKE_PTR(interrupts);
	host->watch.busiest = cpu;
}

/* NULL where they cannot be read. */
static struct procstat_times *read_times(const struct host *host)
{
	_cleanup_free_ struct procstat_times *times =
		xptr(calloc(host->topology->n_cpus, sizeof(*times)));
	int64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	int r = 1, cpu = -1, last = cpumask_last(host->cpus);
	_cleanup_free_ char *text = NULL;
	struct procstat_times one;
	const char *at;
	size_t length;

	if (host->topology->renumbered ||
		xcheck(file_read_all(PROCSTAT_STAT, TABLE_MAX, &text, &length)) < 0)
		return NULL;
	at = text;
	while (r > 0 && cpu != last) {
		r = procstat_next_times(host->cpus, &at, text + length, tick_ns, &cpu, &one);
		if (r > 0)
			times[cpu] = one;
	}
	return r < 0 ? NULL : TAKE_PTR(times);
}

static void finish_watching(struct host *host)
{
	int64_t missing_ns, now = clock_now_ns(CLOCK_MONOTONIC);

	if (host->options.watch_ns == 0 || host->watch.ns > 0)
		return;
	missing_ns = host->watch.began + host->options.watch_ns - now;
	if (missing_ns > 0) {
		struct timespec ts = { missing_ns / NSEC_PER_SEC, missing_ns % NSEC_PER_SEC };

		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	}
	host->watch.ns = clock_now_ns(CLOCK_MONOTONIC) - host->watch.began;
	if (host->watch.table)
		finish_interrupts(host);
	host->watch.after = read_times(host);
}

static void *read_tasks(void *arg)
{
	struct host *host = arg;

	host->tasks.error = tasks_read(host->cpus, &host->tasks.tasks);
	return NULL;
}

/* A recorded machine has no tasks. */
static void start_reading_tasks(struct host *host)
{
	if (host->options.recorded)
		return;
	host->tasks.has_thread = pthread_create(&host->tasks.thread, NULL, read_tasks, host) == 0;
	if (!host->tasks.has_thread)
		(void)read_tasks(host);
}

static void finish_reading_tasks(struct host *host)
{
	if (host->tasks.has_thread)
		(void)pthread_join(host->tasks.thread, NULL);
	host->tasks.has_thread = false;
}

int host_new(const struct host_options *options, struct host **ret)
{
	_cleanup_(host) struct host *host = xptr(calloc(1, sizeof(*host)));
	int r;

	host->options = *options;
	if (options->recorded)
		host->options.watch_ns = 0;
	host->cpus = host_new_mask();
	r = xcheck(topology_read(options->recorded, &host->topology));
	if (r < 0) {
		say_errno(r, "cannot read which CPUs this machine has");
		return r;
	}
	r = choose_cpus(host);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(host);
	return 0;
}

void host_free(struct host *host)
{
	if (!host)
		return;
	finish_reading_tasks(host);
	tasks_free(host->tasks.tasks);
	cpumask_free(host->cpus);
	free(host->cpus_text);
	free(host->cpus_reason);
	topology_free(host->topology);
	isolation_free(host->isolation);
	bootline_free(host->bootline);
	isolation_partitions_clear(&host->partitions);
	free(host->policies);
	free(host->idle);
	touching_free(host->touching);
	free(host->watch.table);
	interrupts_free(host->watch.interrupts);
	free(host->watch.before);
	free(host->watch.after);
	free(host);
}

void host_watch(struct host *host)
{
	/* So that this process is not found there; unless there is no other CPU. */
	(void)xcheck(cpumask_leave(host->cpus));
	start_reading_tasks(host);
	host->watch.before = read_times(host);
	if (host->options.watch_ns == 0)
		return;
	xcheck(file_read_all(INTERRUPTS_PATH, TABLE_MAX, &host->watch.table, NULL));
	host->watch.began = clock_now_ns(CLOCK_MONOTONIC);
}

const struct host_options *host_options(const struct host *host)
{
	return &host->options;
}

bool host_is_whole(const struct host *host)
{
	return !host->options.recorded || access("/proc/sys/kernel", F_OK) == 0;
}

const struct cpumask *host_cpus(const struct host *host)
{
	return host->cpus;
}

const char *host_cpus_text(const struct host *host)
{
	return host->cpus_text;
}

const char *host_cpus_reason(const struct host *host)
{
	return host->cpus_reason;
}

const struct topology *host_topology(const struct host *host)
{
	return host->topology;
}

const struct isolation *host_isolation(struct host *host)
{
	if (!host->isolation)
		xcheck(isolation_read(&host->isolation));
	return host->isolation;
}

bool host_knows_nohz_full(struct host *host)
{
	const struct isolation *isolation = host_isolation(host);

	return isolation->nohz_full_error == 0 ||
		(isolation->nohz_full_error == -ENOENT && host_is_whole(host));
}

int host_is_since(struct host *host, uint64_t major, uint64_t minor)
{
	uint64_t own_major, own_minor;
	char text[FILE_ATTR_SIZE];
	struct utsname name;

	/* A recording has it only in proc/sys: uname(2) is that of this machine. */
	if (host_read("/proc/sys/kernel/osrelease", text) <= 0) {
		if (host_options(host)->recorded || uname(&name) < 0)
			return -ENODATA;
		snprintf(text, sizeof(text), "%s", name.release);
	}
	if (parse_version(text, &own_major, &own_minor) < 0)
		return -ENODATA;
	return own_major > major || (own_major == major && own_minor >= minor);
}

const struct isolation_partitions *host_partitions(struct host *host)
{
	if (!host->has_read_partitions)
		xcheck(isolation_read_partitions(&host->partitions));
	host->has_read_partitions = true;
	return &host->partitions;
}

/* What the kernel shows of a list with CPUs that the machine cannot have: it has refused the list,
 * or taken those that there are. */
static void correct_list(struct bootline_list *list, const struct cpumask *shown)
{
	if (!list->refused || cpumask_is_empty(shown))
		return;
	cpumask_assign(list->cpus, shown);
	list->refused = false;
}

const struct bootline *host_bootline(struct host *host)
{
	const struct isolation *isolation = host_isolation(host);

	if (!host->has_read_bootline &&
		xcheck(bootline_read(host->topology->n_cpus, &host->bootline)) == 0) {
		if (host->bootline->domain)
			correct_list(&host->bootline->isolcpus, isolation->boot);
		correct_list(&host->bootline->nohz_full, isolation->nohz_full);
	}
	host->has_read_bootline = true;
	return host->bootline;
}

const struct tasks *host_tasks(struct host *host)
{
	finish_reading_tasks(host);
	xcheck(host->tasks.error);
	return host->tasks.tasks;
}

bool host_sees_all_tasks(struct host *host)
{
	const struct tasks *tasks = host_tasks(host);

	for (size_t i = 0; tasks && i < tasks->n; i++)
		if (tasks->items[i].kernel)
			return true;
	return false;
}

const struct task *host_find_process(struct host *host, const char *comm)
{
	const struct tasks *tasks = host_tasks(host);

	for (size_t i = 0; tasks && i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		if (task->pid == task->tid && strcmp(task->comm, comm) == 0)
			return task;
	}
	return NULL;
}

bool host_has_smt(void)
{
	char control[FILE_ATTR_SIZE];

	return host_read_word("/sys/devices/system/cpu/smt/control", control) >= 0 &&
		strcmp(control, "notsupported") != 0 && strcmp(control, "notimplemented") != 0;
}

const struct cpufreq_policy_info *host_policy(struct host *host, int cpu)
{
	size_t n = host->topology->n_cpus;
	struct policy *policy;

	if (!host->policies)
		host->policies = xptr(calloc(n, sizeof(*host->policies)));
	if (cpu < 0 || (size_t)cpu >= n)
		return NULL;
	policy = &host->policies[cpu];
	if (!policy->is_read)
		policy->error = xcheck(cpufreq_read_policy(cpu, &policy->info));
	policy->is_read = true;
	return policy->error == 0 ? &policy->info : NULL;
}

int host_cpuidle(struct host *host, int cpu, const struct cpuidle **ret)
{
	struct idle *idle;

	if (!host->idle)
		host->idle = xptr(calloc(host->topology->n_cpus, sizeof(*host->idle)));
	idle = &host->idle[cpu];
	if (!idle->is_read)
		idle->error = xcheck(cpuidle_read(cpu, &idle->cpuidle));
	idle->is_read = true;
	*ret = &idle->cpuidle;
	return idle->error;
}

const struct touching *host_touching(struct host *host)
{
	if (!host->touching)
		host->touching = touching_read(host->cpus);
	return host->touching;
}

const char *host_hypervisor(struct host *host)
{
	if (!host->has_read_hypervisor)
		(void)xcheck(virtualization_read_hypervisor(
			&host->hypervisor, &host->hypervisor_is_told));
	host->has_read_hypervisor = true;
	return host->hypervisor;
}

bool host_hypervisor_is_told(struct host *host)
{
	(void)host_hypervisor(host);
	return host->hypervisor_is_told;
}

const struct interrupts *host_watched_interrupts(struct host *host, int *ret_cpu)
{
	finish_watching(host);
	*ret_cpu = host->watch.busiest;
	return host->watch.interrupts;
}

bool host_watched_times(struct host *host, int cpu, struct procstat_times *ret)
{
	struct procstat_times first;

	finish_watching(host);
	if (host->watch.ns <= 0 || !host->watch.after || !host_first_times(host, cpu, &first) ||
		host->watch.after[cpu].n_cpus == 0)
		return false;
	*ret = host->watch.after[cpu];
	ret->busy_ns -= first.busy_ns;
	ret->steal_ns -= first.steal_ns;
	return true;
}

bool host_first_times(const struct host *host, int cpu, struct procstat_times *ret)
{
	if (!host->watch.before || host->watch.before[cpu].n_cpus == 0)
		return false;
	*ret = host->watch.before[cpu];
	return true;
}

int64_t host_watched_ns(struct host *host)
{
	finish_watching(host);
	return host->watch.ns;
}

struct cpumask *host_new_mask(void)
{
	struct cpumask *mask = NULL;

	xcheck(cpumask_new(&mask));
	return mask;
}

int host_read(const char *path, char *buf)
{
	return file_read_line(AT_FDCWD, path, buf, FILE_ATTR_SIZE);
}

int host_read_word(const char *path, char *buf)
{
	char text[FILE_ATTR_SIZE];
	int r = host_read(path, text);

	if (r < 0)
		return r;
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c > '~')
			return -EINVAL;
	if (r == 0)
		return -EINVAL;
	memcpy(buf, text, (size_t)r + 1);
	return r;
}

int host_readf(char *buf, const char *format, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return host_read(path, buf);
}
