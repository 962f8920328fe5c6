// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/machine/cpumask.h"
#include "base/machine/schedstat.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/wait.h"
#include "measure/serve/family.h"

enum {
	STOP_SECONDS = 2,
	FIRST_STEP_NS = 50 * 1000,
	LAST_STEP_NS = 10 * 1000 * 1000,
	STATUS_SIZE = 8192,
};

/* What the living threads tell is all there is to tell if they had that part of the CPU time. */
#define LIVING_PART 0.98

static bool is_member(const struct family *family, pid_t pid)
{
	for (size_t i = 0; i < family->n; i++)
		if (family->items[i].pid == pid)
			return true;
	return false;
}

/* The first threads of all processes. */
static int read_processes(struct tasks **ret)
{
	_cleanup_(cpumask) struct cpumask *none = NULL;
	int r = cpumask_new(&none);

	return r < 0 ? r : tasks_read(none, ret);
}

static int read_family(pid_t keeper, bool with_dead, struct family *ret)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	struct family family = { 0 };
	size_t before;
	int r = read_processes(&tasks);

	if (r < 0)
		return r;
	family.items = calloc(tasks->n + 1, sizeof(*family.items));
	if (!family.items)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->items[i].tid == keeper)
			family.ended_ticks = tasks->items[i].children_ticks;
	/* A child may stand before its parent in the list. */
	do {
		before = family.n;
		for (size_t i = 0; i < tasks->n; i++) {
			const struct task *task = &tasks->items[i];

			if (task->tid != task->pid || (task->dead && !with_dead) ||
				(task->parent != keeper && !is_member(&family, task->parent)) ||
				is_member(&family, task->pid))
				continue;
			family.items[family.n++] = (struct family_member){
				.pid = task->pid,
				.start = task->start,
				.state = task->state,
				.system_ticks = task->system_ticks,
			};
			family.ended_ticks += task->children_ticks;
		}
	} while (family.n > before);
	*ret = family;
	return 0;
}

int family_read(pid_t keeper, struct family *ret)
{
	return read_family(keeper, false, ret);
}

void family_clear(struct family *family)
{
	free(family->items);
	*family = (struct family){ 0 };
}

/* Whether the process of that number is still the one that began then. */
static bool is_same(const struct family_member *member)
{
	char path[64], text[1024];
	struct task task = { 0 };

	snprintf(path, sizeof(path), "/proc/%d/stat", member->pid);
	return file_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0 &&
		tasks_parse_stat(text, &task) == 0 && task.start == member->start;
}

/* One that has ended needs no signal. */
static int send_signal(const struct family_member *member, int signal)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, member->pid, 0);

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	if (!is_same(member))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 && errno != ESRCH)
		return -errno;
	return 0;
}

static const struct family_member *find_same(
	const struct family *family, const struct family_member *member)
{
	for (size_t i = 0; i < family->n; i++)
		if (family->items[i].pid == member->pid && family->items[i].start == member->start)
			return &family->items[i];
	return NULL;
}

static int add(struct family *family, const struct family_member *member)
{
	struct family_member *items;

	if (find_same(family, member))
		return 0;
	items = reallocarray(family->items, family->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	family->items = items;
	items[family->n++] = *member;
	return 0;
}

int family_stop(pid_t keeper, struct family *stopped)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + STOP_SECONDS * NSEC_PER_SEC,
		FIRST_STEP_NS, LAST_STEP_NS);

	do {
		_cleanup_family_ struct family family = { 0 };
		size_t n_running = 0;
		int r = family_read(keeper, &family);

		for (size_t i = 0; r == 0 && i < family.n; i++) {
			if (family.items[i].state == 'T' || family.items[i].state == 't')
				continue;
			n_running++;
			/* First it is remembered that it is to be continued. */
			r = add(stopped, &family.items[i]);
			if (r == 0)
				r = send_signal(&family.items[i], SIGSTOP);
		}
		if (r < 0 || n_running == 0)
			return r;
	} while (wait_step(&wait));
	return -ETIME;
}

int family_continue(struct family *stopped)
{
	int r = 0;

	for (size_t i = 0; i < stopped->n; i++) {
		int one = send_signal(&stopped->items[i], SIGCONT);

		r = r < 0 ? r : one;
	}
	family_clear(stopped);
	return r;
}

/* The CPU clock of a process has its threads that have ended, which the sum over its threads
 * lacks. */
static int read_cpu(pid_t pid, int64_t *ret)
{
	clockid_t clock;
	struct timespec ts;
	int r = clock_getcpuclockid(pid, &clock);

	if (r == 0 && clock_gettime(clock, &ts) < 0)
		r = errno;
	/* EINVAL: there is no such process any more. */
	if (r != 0)
		return r == EINVAL ? -ESRCH : -r;
	*ret = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	return 0;
}

/* The number in the line "NAME:\t12" of /proc/PID/status. */
static int64_t find_number(const char *text, const char *name)
{
	const char *found = strstr(text, name), *cursor;
	uint64_t number;

	if (!found)
		return -1;
	cursor = found + strlen(name);
	return parse_next_u64(&cursor, &number) < 0 ? -1 : (int64_t)number;
}

/* Whether SIGCHLD is among the ignored signals of /proc/PID/status: "SigIgn:\t0000000000010000". */
static bool ignores_children(const char *status)
{
	static const char name[] = "\nSigIgn:\t";
	const char *found = strstr(status, name);
	char digits[17] = "";
	uint64_t ignored;

	if (found)
		snprintf(digits, sizeof(digits), "%s", found + strlen(name));
	return parse_hex_u64(digits, UINT64_MAX, &ignored) == 0 && (ignored >> (SIGCHLD - 1) & 1);
}

static void add_known(int64_t *sum, int64_t more)
{
	*sum = *sum < 0 || more < 0 ? -1 : *sum + more;
}

/* A thread that has ended meanwhile adds nothing. */
static void add_thread(pid_t pid, const char *tid, struct family *family)
{
	struct family_use *use = &family->use;
	char path[64], text[STATUS_SIZE];
	struct schedstat stat;

	if (snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, tid) >=
			(int)sizeof(path) ||
		file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return;
	if (schedstat_parse(text, &stat) < 0)
		stat.ran_ns = stat.waited_ns = -1;
	add_known(&use->ran_ns, stat.ran_ns);
	add_known(&use->waited_ns, stat.waited_ns);
	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, tid);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return;
	add_known(&use->involuntary, find_number(text, "\nnonvoluntary_ctxt_switches:"));
	add_known(&use->switches, find_number(text, "\nnonvoluntary_ctxt_switches:"));
	add_known(&use->switches, find_number(text, "\nvoluntary_ctxt_switches:"));
	family->ignores_children |= ignores_children(text);
}

static void add_threads(pid_t pid, struct family *family)
{
	_cleanup_closedir_ DIR *folder = NULL;
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (parse_is_digit(entry->d_name[0]))
			add_thread(pid, entry->d_name, family);
}

int family_ask(pid_t keeper, struct family *ret)
{
	int64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	struct sigaction ours;
	struct family family;
	size_t n = 0;
	/* The clock of one that has ended, and that nobody has waited for, still tells. */
	int r = read_family(keeper, true, &family);

	if (r < 0)
		return r;
	for (size_t i = 0; i < family.n; i++) {
		struct family_member *member = &family.items[i];

		r = read_cpu(member->pid, &member->cpu_ns);
		if (r < 0 && r != -ESRCH) {
			family_clear(&family);
			return r;
		}
		if (r < 0)
			continue;
		family.use.cpu_ns += member->cpu_ns;
		family.use.system_ns += (int64_t)member->system_ticks * tick_ns;
		add_threads(member->pid, &family);
		family.items[n++] = *member;
	}
	family.n = n;
	family.use.step_ns = tick_ns;
	/* A service has from us what we ignore. */
	if (sigaction(SIGCHLD, NULL, &ours) == 0 && ours.sa_handler == SIG_IGN)
		family.ignores_children = false;
	*ret = family;
	return 0;
}

int64_t family_subtract(int64_t after, int64_t before)
{
	return after < 0 || before < 0 || after < before ? -1 : after - before;
}

void family_forget_living(struct family_use *use)
{
	if (use->ran_ns < 0 || (double)use->ran_ns < LIVING_PART * (double)use->cpu_ns)
		use->ran_ns = use->waited_ns = use->switches = use->involuntary = -1;
}

int family_is_complete(const struct family *before, const struct family *after)
{
	if (after->ended_ticks > before->ended_ticks)
		return -ENODATA;
	return before->ignores_children || after->ignores_children ? -ENOTSUP : 0;
}

int family_compare(const struct family *before, const struct family *after, struct family_use *ret)
{
	for (size_t i = 0; i < before->n; i++)
		if (!find_same(after, &before->items[i]))
			return -ENODATA;
	*ret = (struct family_use){
		.cpu_ns = after->use.cpu_ns - before->use.cpu_ns,
		.system_ns = family_subtract(after->use.system_ns, before->use.system_ns),
		.step_ns = after->use.step_ns,
		.ran_ns = family_subtract(after->use.ran_ns, before->use.ran_ns),
		.waited_ns = family_subtract(after->use.waited_ns, before->use.waited_ns),
		.switches = family_subtract(after->use.switches, before->use.switches),
		.involuntary = family_subtract(after->use.involuntary, before->use.involuntary),
	};
	/* The ticks are rounded. */
	ret->system_ns = MIN(ret->system_ns, ret->cpu_ns);
	ret->user_ns = ret->system_ns < 0 ? -1 : ret->cpu_ns - ret->system_ns;
	family_forget_living(ret);
	return 0;
}
