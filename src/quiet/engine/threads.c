// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/forks.h"
#include "base/machine/isolation.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/text.h"
#include "quiet/engine/cleared.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/thread.h"
#include "quiet/engine/threads.h"

#define ONLINE "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"

enum {
	WALKS_CLEAN_NS = 100 * 1000 * 1000,
	WALKS_STEP_NS = 20 * 1000 * 1000,
	/* After so many seconds of finding threads in each walk, the walks are given up. */
	WALKS_SECONDS = 5,
};

/* The thread of "TID@START"; -ENOENT when it is gone. A thread that has ended and is still listed
 * counts as gone: its affinity can be written, but does not change when its cpuset gets CPUs back.
 */
static int find_thread(const char *which, pid_t *ret)
{
	char path[64], text[FILE_ATTR_SIZE];
	struct task task = { 0 };
	uint64_t start;
	pid_t tid;
	int r;

	if (thread_parse(which, &tid, &start) < 0)
		return -ENOENT;
	/* /proc/TID/stat would add up all threads of the process. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)tid, (int)tid);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r < 0)
		return thread_is_hidden(r) ? -ENOENT : r;
	if (tasks_parse_stat(text, &task) < 0 || task.start != start || task.dead)
		return -ENOENT;
	*ret = tid;
	return 0;
}

/* The thread, and the online CPUs that it may run on. */
static int read_thread(const char *which, pid_t *ret_tid, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	pid_t tid;
	int r;

	r = find_thread(which, &tid);
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r == 0)
		r = thread_get_cpus(tid, cpus);
	if (r < 0)
		return r;
	*ret_tid = tid;
	*ret = TAKE_PTR(cpus);
	return 0;
}

static int read_online(struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *online = NULL;
	int r;

	r = cpumask_new(&online);
	if (r == 0)
		r = cpumask_read_list(AT_FDCWD, ONLINE, online);
	if (r == 0)
		*ret = TAKE_PTR(online);
	return r;
}

static int format_list(const struct cpumask *cpus, char **ret)
{
	char *list = cpumask_format_list(cpus);

	if (!list)
		return -ENOMEM;
	*ret = list;
	return 0;
}

int thread_read(const char *which, char **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	pid_t tid;
	int r;

	r = read_thread(which, &tid, &cpus);
	return r < 0 ? r : format_list(cpus, ret);
}

int thread_read_with_offline(const char *which, char **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	pid_t tid;
	int r;

	r = find_thread(which, &tid);
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r == 0)
		r = thread_get_cpus_with_offline(tid, cpus);
	return r < 0 ? r : format_list(cpus, ret);
}

int thread_write(const char *which, const char *text)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL, *now = NULL, *with_offline = NULL;
	pid_t tid;
	int r;

	r = read_thread(which, &tid, &now);
	if (r == 0)
		r = cpumask_from_list(text, &cpus);
	if (r == 0)
		r = cpumask_new(&with_offline);
	if (r < 0)
		return r;
	if (!cpumask_equal(cpus, now))
		return thread_set_cpus(tid, cpus);
	/* Nothing is to change. A kernel that remembers the affinity that was asked for (from 6.2)
	 * would replace it by the current one, so write only if offline CPUs are to be dropped. */
	r = thread_get_cpus_with_offline(tid, with_offline);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	return cpumask_equal(with_offline, now) ? 0 : thread_set_cpus(tid, cpus);
}

/* Whether these CPUs of a thread are all online CPUs, or all that the thread's cpuset allows: 1, 0
 * or an error. If the cpuset cannot be seen, only the first counts. */
static int may_run_everywhere(pid_t tid, const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *most = NULL;
	int r;

	if (cpumask_new(&most) < 0)
		return -ENOMEM;
	r = cpumask_read_list(AT_FDCWD, ONLINE, most);
	if (r == 0 && cpumask_equal(cpus, most))
		return 1;
	if (r == 0 || r == -ENOENT)
		r = isolation_read_cpuset(tid, most, NULL);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	return cpumask_subset(most, cpus);
}

/* Whether `cpus` are exactly the online CPUs of `of`. Takes the offline CPUs out of `of`. */
static bool is_online_part(
	const struct cpumask *cpus, struct cpumask *of, const struct cpumask *online)
{
	cpumask_and(of, of, online);
	return cpumask_equal(cpus, of);
}

/*
 * When CPUs go offline, the kernel may leave a thread with the online CPUs of `old`, or with the
 * online CPUs of `set`. If the kernel has forgotten the affinity, or would as soon as the thread
 * ran, it may also allow all CPUs of the thread's cpuset.
 */
int thread_made_by_kernel(const char *which, const char *old, const char *set, const char *now)
{
	_cleanup_(cpumask) struct cpumask *o = NULL, *s = NULL, *n = NULL, *online = NULL;
	bool forgotten;
	pid_t tid;
	int r;

	r = find_thread(which, &tid);
	if (r == 0)
		r = cpumask_from_list(old, &o);
	if (r == 0)
		r = cpumask_from_list(set, &s);
	if (r == 0)
		r = cpumask_from_list(now, &n);
	if (r == 0)
		r = read_online(&online);
	if (r < 0)
		return r == -ENOENT || r == -EINVAL ? 0 : r;
	if (is_online_part(n, o, online) || is_online_part(n, s, online))
		return 1;
	/* Last, because it reads a file. */
	forgotten = cpumask_is_empty(s) || !cpumask_subset(s, o) || thread_is_forgotten() > 0;
	return forgotten ? may_run_everywhere(tid, n) : 0;
}

/* The kernel gives a thread as much of what was asked for as its cpuset allows, or all of that. */
int thread_is_chosen(const char *which, const char *old, const char *now)
{
	_cleanup_(cpumask) struct cpumask *o = NULL, *n = NULL;
	int r;

	r = cpumask_from_list(old, &o);
	if (r == 0)
		r = cpumask_from_list(now, &n);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (cpumask_subset(n, o))
		return 0;
	r = thread_made_by_kernel(which, old, "", now);
	return r < 0 ? r : !r;
}

int thread_lacks_offline_only(const char *wanted, const char *now)
{
	_cleanup_(cpumask) struct cpumask *w = NULL, *n = NULL, *online = NULL;
	int r;

	r = cpumask_from_list(wanted, &w);
	if (r == 0)
		r = cpumask_from_list(now, &n);
	if (r == 0)
		r = read_online(&online);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return is_online_part(n, w, online);
}

int follower_read(const char *which, char **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	char *text;
	pid_t tid;
	int r;

	r = read_thread(which, &tid, &cpus);
	if (r == 0)
		r = may_run_everywhere(tid, cpus);
	if (r < 0)
		return r;
	text = r > 0 ? strdup(FOLLOWER_EVERYWHERE) : cpumask_format_list(cpus);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

int follower_write(const char *which, const char *text)
{
	pid_t tid;
	int r;

	if (strcmp(text, FOLLOWER_EVERYWHERE) != 0)
		return thread_write(which, text);
	r = find_thread(which, &tid);
	return r < 0 ? r : thread_set_cpus(tid, NULL);
}

/* A follower that was moved has the CPUs `set`, of which those that went offline are not seen. A
 * follower whose affinity the kernel has forgotten gets the value "all", which is `old`. */
int follower_made_by_kernel(const char *which, const char *old, const char *set, const char *now)
{
	(void)which;
	(void)old;
	return thread_lacks_offline_only(set, now);
}

/* Which threads get a knob, see threads.h. */
enum walk {
	WALK_CHOOSERS, /* threads_add() */
	WALK_ALL,
	WALK_ALL_AGAIN, /* threads_add_all() with `again` */
	WALK_STRAYED,
	WALK_KERNEL, /* threads_add_kernel() */
};

/* What threads_add() looks at for each thread, and room for what it computes. */
struct scene {
	const struct cpumask *online;
	const struct cpumask *offline; /* present but not online */
	const struct cpumask *quiet;   /* NULL: threads are only kept as they are */
	struct journal *journal;       /* NULL for none */
	struct journal *shield;	       /* that of cpu-shield, for another tool; NULL for none */
	enum walk walk;
	/* Threads get back what the kernel forgets while it does (pins.h), so that those that have
	 * chosen their CPUs are only kept. */
	bool keeps_choosers;
	struct cpumask *own; /* the CPUs that the thread has chosen itself */
	struct cpumask *cpuset;
	struct cpumask *wanted;
};

enum choice {
	CHOICE_NONE, /* the thread runs wherever its cpuset allows */
	CHOICE_OWN,  /* the thread has chosen scene->own */
	CHOICE_GONE, /* the thread is gone, and nothing is written down */
};

/* Whether a thread that may run on all online CPUs has chosen exactly these. If it has not chosen,
 * its status in the root cpuset lists the offline CPUs as well; in other cpusets nobody can tell.
 */
static int read_choice_of_online(const struct scene *s, pid_t tid)
{
	_cleanup_free_ char *cpuset = NULL;
	int r;

	r = thread_get_cpus_with_offline(tid, s->cpuset);
	if (r < 0)
		return thread_is_hidden(r) ? CHOICE_NONE : r;
	if (cpumask_subset(s->offline, s->cpuset) ||
		!cpumask_subset(s->own, s->cpuset)) /* changed between the two readings */
		return CHOICE_NONE;
	r = isolation_read_cpuset(tid, s->cpuset, &cpuset);
	if (r < 0)
		return thread_is_hidden(r) ? CHOICE_NONE : r;
	return strcmp(cpuset, "/") == 0 ? CHOICE_OWN : CHOICE_NONE;
}

/*
 * An enum choice, or a negative errno.
 *
 * Nobody has chosen that a thread of the kernel lacks the offline CPUs: RCU takes a CPU that goes
 * from its threads, and gives it back (rcutree_affinity_setting() in kernel/rcu/tree.c of 6.12).
 * Were such a thread given what it has now as a choice, the kernel would remember that, and leave
 * the CPU out when it comes (seen).
 */
static int read_choice(const struct scene *s, const struct task *task, const char *path)
{
	const struct journal_entry *entry = journal_find_ours(s->journal, path);
	int r;

	if (entry) {
		if (cpumask_parse_list(entry->old, 0, s->own, NULL) < 0)
			return CHOICE_NONE;
		/* CPUs that are offline cannot be given to the thread now. */
		cpumask_and(s->own, s->own, s->online);
		return CHOICE_OWN;
	}
	r = thread_get_cpus(task->tid, s->own);
	if (r < 0)
		return thread_is_hidden(r) ? CHOICE_GONE : r;
	if (cpumask_equal(s->own, s->online))
		return cpumask_is_empty(s->offline) || task->kernel
			? CHOICE_NONE
			: read_choice_of_online(s, task->tid);
	/* All CPUs of the thread are offline. It keeps them only until its cpuset changes. */
	if (cpumask_is_empty(s->own))
		return CHOICE_OWN;
	r = isolation_read_cpuset(task->tid, s->cpuset, NULL);
	if (r < 0)
		return thread_is_hidden(r) ? CHOICE_OWN : r;
	return cpumask_subset(s->cpuset, s->own) ? CHOICE_NONE : CHOICE_OWN;
}

static int add_knob(struct knob_plan *plan, unsigned group, enum knob_kind kind,
	const struct task *task, const char *path, const char *wanted)
{
	struct knob *knob;
	int r;

	r = knob_plan_add(
		plan, group, kind, path, wanted, &knob, THREADS_NAME, task->comm, (int)task->tid);
	if (r < 0)
		return r;
	knob->fold = THREADS_FOLD;
	/* The thread may end at any moment, or be put into a cpuset without these CPUs. */
	knob->may_be_refused = true;
	return 0;
}

static int add_chosen(struct knob_plan *plan, unsigned group, const struct task *task,
	const char *path, const struct scene *s)
{
	_cleanup_free_ char *wanted = NULL;

	if (s->quiet && !s->keeps_choosers) {
		cpumask_andnot(s->wanted, s->own, s->quiet);
		if (!cpumask_is_empty(s->wanted)) {
			wanted = cpumask_format_list(s->wanted);
			if (!wanted)
				return -ENOMEM;
		}
	}
	return add_knob(plan, group, KNOB_LIST, task, path, wanted);
}

/* Moves a thread, whether it has chosen its CPUs or follows its cpuset, from the quiet CPUs. */
static int add_moved(struct knob_plan *plan, unsigned group, enum choice choice,
	const struct task *task, const struct thread_paths *paths, bool is_in_journal,
	const struct scene *s)
{
	_cleanup_free_ char *wanted = NULL;
	int r = 0;

	if (choice == CHOICE_GONE)
		return 0;
	if (choice == CHOICE_NONE)
		r = thread_get_cpus(task->tid, s->own);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	if (!is_in_journal && !cpumask_intersects(s->own, s->quiet))
		return 0;
	cpumask_andnot(s->wanted, s->own, s->quiet);
	if (cpumask_is_empty(s->wanted)) {
		if ((s->walk == WALK_ALL_AGAIN || s->walk == WALK_STRAYED) && !is_in_journal)
			return 0;
		cpumask_andnot(s->wanted, s->online, s->quiet);
	}
	wanted = cpumask_format_list(s->wanted);
	if (!wanted)
		return -ENOMEM;
	return choice == CHOICE_NONE
		? add_knob(plan, group, KNOB_WORD, task, paths->follower, wanted)
		: add_knob(plan, group, KNOB_LIST, task, paths->chooser, wanted);
}

/* For an ordinary user's own shield: whether the thread is of one of his processes. The owner of
 * the directory is the effective user, or root where the process is not dumpable (proc(5)). */
static bool is_mine(const struct task *task)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)task->pid);
	return !journal_is_own() || (stat(path, &st) == 0 && st.st_uid == geteuid());
}

/* What add_thread() does for threads_add_strayed(). */
static int add_strayed(struct knob_plan *plan, unsigned group, enum choice choice,
	const struct task *task, const struct thread_paths *paths, bool is_in_journal,
	const struct scene *s)
{
	int r;

	if (!is_in_journal)
		return add_moved(plan, group, choice, task, paths, false, s);
	if (choice != CHOICE_OWN || cpumask_intersects(s->own, s->quiet))
		return 0;
	/* A thread that stays away from the quiet CPUs may have chosen other CPUs meanwhile. */
	r = thread_get_cpus(task->tid, s->cpuset);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	if (!cpumask_intersects(s->cpuset, s->quiet))
		return 0;
	/* When it wants to run, it gets all CPUs. */
	if (cpumask_is_empty(s->own))
		cpumask_andnot(s->own, s->online, s->quiet);
	return add_chosen(plan, group, task, paths->chooser, s);
}

/* Whether a thread that looks as if it had chosen its CPUs follows its cpuset: by the journal of
 * the tool, or, for a kernel thread that cpu-shield has moved, by cpu-shield's. The two knobs have
 * the same name then, so that either tool may be restored first (layers.h). */
static bool is_known_to_follow(
	const struct scene *s, const struct task *task, const struct thread_paths *paths)
{
	return journal_find_ours(s->journal, paths->follower) ||
		(task->kernel && !journal_find_ours(s->journal, paths->chooser) &&
			journal_find_ours(s->shield, paths->follower));
}

static int add_thread(
	struct knob_plan *plan, unsigned group, const struct task *task, const struct scene *s)
{
	struct thread_paths paths;
	bool follows;
	int r;

	if (!thread_is_movable(task) || !is_mine(task) ||
		((!s->quiet || s->walk == WALK_STRAYED) && thread_is_of_interrupt(task)))
		return 0;
	paths = thread_name_knobs(task);
	follows = is_known_to_follow(s, task, &paths);
	r = follows ? CHOICE_NONE : read_choice(s, task, paths.chooser);
	if (r >= 0 && s->walk != WALK_CHOOSERS && (s->walk != WALK_KERNEL || task->kernel)) {
		bool is_in_journal = follows || journal_find_ours(s->journal, paths.chooser);

		return s->walk == WALK_STRAYED
			? add_strayed(plan, group, (enum choice)r, task, &paths, is_in_journal, s)
			: add_moved(plan, group, (enum choice)r, task, &paths, is_in_journal, s);
	}
	if (r == CHOICE_OWN)
		return add_chosen(plan, group, task, paths.chooser, s);
	if (r != CHOICE_NONE || s->quiet)
		return r < 0 ? r : 0;
	return add_knob(plan, group, KNOB_WORD, task, paths.follower, NULL);
}

static int read_offline(const struct cpumask *online, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *offline = NULL;
	int r;

	if (cpumask_new(&offline) < 0)
		return -ENOMEM;
	r = cpumask_read_list(AT_FDCWD, PRESENT, offline);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0)
		cpumask_andnot(offline, offline, online);
	*ret = TAKE_PTR(offline);
	return 0;
}

static int add_threads(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet, enum walk walk)
{
	_cleanup_(cpumask) struct cpumask *own = NULL, *cpuset = NULL, *wanted = NULL,
					  *offline = NULL;
	_cleanup_(journal) struct journal *journal = NULL, *shield = NULL;
	_cleanup_(tasks) struct tasks *tasks = NULL;
	_cleanup_free_ char *why = NULL, *why_shield = NULL;
	struct scene scene;
	int r;

	if (cpumask_new(&own) < 0 || cpumask_new(&cpuset) < 0 || cpumask_new(&wanted) < 0)
		return -ENOMEM;
	r = read_offline(online, &offline);
	/* While CPUs are offline all threads are read: some may wait for an offline CPU, and may be
	 * in the journal. */
	if (r == 0)
		r = tasks_read(quiet && cpumask_is_empty(offline) ? online : NULL, &tasks);
	if (r < 0)
		return r;
	/* If the journal is damaged, the engine will say so. */
	r = journal_load(tool, &journal, &why);
	if (journal_error_counts(r))
		return r;
	r = strcmp(tool, CLEARED_TOOL) == 0 ? 0 : journal_load(CLEARED_TOOL, &shield, &why_shield);
	if (journal_error_counts(r))
		return r;
	r = 0;
	scene = (struct scene){
		.online = online,
		.offline = offline,
		.quiet = quiet,
		.walk = walk,
		.keeps_choosers = quiet && (walk == WALK_CHOOSERS || walk == WALK_KERNEL) &&
			thread_is_forgotten() > 0,
		.journal = journal,
		.shield = shield,
		.own = own,
		.cpuset = cpuset,
		.wanted = wanted,
	};
	for (size_t i = 0; r == 0 && i < tasks->n; i++)
		r = add_thread(plan, group, &tasks->items[i], &scene);
	return r;
}

int threads_add(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet)
{
	return add_threads(plan, group, tool, online, quiet, WALK_CHOOSERS);
}

int threads_add_all(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet, bool again)
{
	return add_threads(plan, group, tool, online, quiet, again ? WALK_ALL_AGAIN : WALK_ALL);
}

int threads_add_kernel(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet)
{
	return add_threads(plan, group, tool, online, quiet, WALK_KERNEL);
}

int threads_add_strayed(struct knob_plan *plan, unsigned group, const char *tool,
	const struct cpumask *online, const struct cpumask *quiet)
{
	return add_threads(plan, group, tool, online, quiet, WALK_STRAYED);
}

int threads_lack(struct journal *journal, const struct cpumask *cpus)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	_cleanup_(cpumask) struct cpumask *own = NULL;
	int r = cpumask_new(&own);

	if (r == 0)
		r = tasks_read(NULL, &tasks);
	for (size_t i = 0; r == 0 && i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		if (!thread_is_movable(task) || threads_find_entry(journal, task))
			continue;
		r = thread_get_cpus_with_offline(task->tid, own);
		if (r < 0)
			r = thread_is_hidden(r) ? 0 : r;
		else
			r = !cpumask_subset(cpus, own);
	}
	return r;
}

struct threads_walks threads_walks_begin(void)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC);

	return (struct threads_walks){
		.wait = wait_until(
			now + WALKS_SECONDS * NSEC_PER_SEC, WALKS_STEP_NS, WALKS_STEP_NS),
		.clean_since = now,
	};
}

bool threads_walks_go_on(struct threads_walks *walks, bool found)
{
	int64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (found)
		walks->clean_since = now;
	if (now - walks->clean_since >= WALKS_CLEAN_NS || !wait_step(&walks->wait))
		return false;
	forks_wait(walks->wait.deadline_ns);
	return true;
}

/* --- Threads that have inherited an affinity. --- */

const struct journal_entry *threads_find_entry(struct journal *journal, const struct task *task)
{
	struct thread_paths paths = thread_name_knobs(task);
	const struct journal_entry *entry = journal_find(journal, paths.follower);

	return entry ? entry : journal_find(journal, paths.chooser);
}

/* What widen_inheritor() looks at for each thread. */
struct heir {
	struct journal *journal;
	const struct tasks *tasks;
	uint64_t first_start;
	const struct cpumask *quiet;
	const struct cpumask *given; /* as read_given() */
	struct cpumask *now;	     /* the CPUs that the thread may run on */
	struct cpumask *most;	     /* the CPUs that its cpuset allows */
	struct cpumask *other;	     /* of another thread */
};

/* Whether the entry is of a thread that was given the CPUs heir->now, as add_moved() computes them.
 * The new value in the journal does not tell: it is not known any more while a restore is at work.
 */
static bool was_given(const struct heir *heir, const struct journal_entry *entry)
{
	if (!text_starts_with(entry->path, FOLLOWER_SCHEME ":") &&
		!text_starts_with(entry->path, THREAD_SCHEME ":"))
		return false;
	if (strcmp(entry->old, FOLLOWER_EVERYWHERE) == 0)
		cpumask_assign(heir->other, heir->most);
	else if (cpumask_parse_list(entry->old, 0, heir->other, NULL) < 0)
		return false;
	cpumask_and(heir->other, heir->other, heir->given);
	cpumask_andnot(heir->other, heir->other, heir->quiet);
	if (cpumask_is_empty(heir->other))
		cpumask_andnot(heir->other, heir->given, heir->quiet);
	return cpumask_equal(heir->other, heir->now);
}

/* The entry of the thread that heir->now was inherited from; NULL when nobody in the journal was
 * given these CPUs, or when a parent that was not moved has them. */
static const struct journal_entry *find_inherited(const struct heir *heir, const struct task *task)
{
	const struct journal_entry *entry = NULL;

	for (size_t steps = 0; !entry && steps < heir->tasks->n; steps++) {
		task = thread_find_parent(heir->tasks, task);
		if (!task)
			break;
		entry = threads_find_entry(heir->journal, task);
		if (entry || task->start >= heir->first_start)
			continue;
		if (thread_get_cpus(task->tid, heir->other) == 0 &&
			cpumask_equal(heir->other, heir->now))
			return NULL;
		break;
	}
	if (entry && was_given(heir, entry))
		return entry;
	/* The parent has ended, and another process is the parent now. */
	for (size_t i = 0; i < heir->journal->n; i++)
		if (was_given(heir, &heir->journal->entries[i]))
			return &heir->journal->entries[i];
	return NULL;
}

/* 1 when the thread has got more CPUs, 0 when it is left alone, or a negative errno. */
static int widen_inheritor(const struct heir *heir, const struct task *task)
{
	const struct journal_entry *entry;
	struct thread_paths paths;
	int r;

	if (!thread_is_movable(task) || !is_mine(task) || task->start < heir->first_start ||
		threads_find_entry(heir->journal, task))
		return 0;
	r = thread_get_cpus(task->tid, heir->now);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	r = isolation_read_cpuset(task->tid, heir->most, NULL);
	if (r < 0 && !thread_is_hidden(r))
		return r;
	if (r < 0)
		cpumask_assign(heir->most, heir->given);
	entry = find_inherited(heir, task);
	if (!entry)
		return 0;
	paths = thread_name_knobs(task);
	r = follower_write(strchr(paths.follower, ':') + 1, entry->old);
	if (r == 0)
		r = thread_get_cpus(task->tid, heir->other);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	return !cpumask_equal(heir->other, heir->now);
}

/* One walk over all threads: how many got more CPUs. *ret_error: the first error. */
static size_t widen_all(struct heir *heir, int *ret_error)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	size_t n = 0;
	int r = tasks_read(NULL, &tasks);

	if (r < 0) {
		*ret_error = r;
		return 0;
	}
	heir->tasks = tasks;
	for (size_t i = 0; i < tasks->n; i++) {
		r = widen_inheritor(heir, &tasks->items[i]);
		/* An error of one thread must not leave the others narrow. */
		if (r < 0 && *ret_error == 0)
			*ret_error = r;
		n += r > 0;
	}
	heir->tasks = NULL;
	return n;
}

uint64_t threads_tick_ns(void)
{
	return NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
}

int threads_wait_tick(void)
{
	uint64_t tick = threads_tick_ns();
	uint64_t next = ((uint64_t)clock_now_ns(CLOCK_BOOTTIME) / tick + 1) * tick;
	struct timespec until = {
		.tv_sec = (time_t)(next / NSEC_PER_SEC),
		.tv_nsec = (long)(next % NSEC_PER_SEC),
	};

	return -clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL);
}

/* The online CPUs that were online at an apply as well. No thread was given any other CPU, and no
 * thread gets a CPU that comes online later. */
static int read_given(const struct journal *journal, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *online = NULL, *then = NULL;
	int r;

	r = read_online(&online);
	if (r == 0)
		r = cpumask_new(&then);
	if (r < 0)
		return r;
	if (journal->online && cpumask_parse_list(journal->online, 0, then, NULL) == 0)
		cpumask_and(online, online, then);
	*ret = TAKE_PTR(online);
	return 0;
}

int threads_widen_inheritors(struct journal *journal, uint64_t since, const struct cpumask *quiet)
{
	_cleanup_(cpumask) struct cpumask *given = NULL, *now = NULL, *most = NULL, *other = NULL;
	struct threads_walks walks;
	struct heir heir;
	int r, failed = 0;

	r = read_given(journal, &given);
	if (r == 0)
		r = cpumask_new(&now);
	if (r == 0)
		r = cpumask_new(&most);
	if (r == 0)
		r = cpumask_new(&other);
	if (r < 0)
		return r;
	heir = (struct heir){
		.journal = journal,
		.first_start = since / threads_tick_ns() + 1,
		.quiet = quiet,
		.given = given,
		.now = now,
		.most = most,
		.other = other,
	};
	/* A thread that is still narrow may start another while the threads are walked over. */
	walks = threads_walks_begin();
	while (threads_walks_go_on(&walks, widen_all(&heir, &failed) > 0))
		;
	return failed;
}

/* Whether a thread of the root cpuset may run on all online CPUs, but has lost one of the `missing`
 * ones, which may be online again: 1, 0 or an error. */
static int is_narrowed(pid_t tid, const struct cpumask *missing)
{
	_cleanup_(cpumask) struct cpumask *with_offline = NULL, *now = NULL, *online = NULL,
					  *allowed = NULL;
	_cleanup_free_ char *cpuset = NULL;
	int r;

	if (cpumask_new(&with_offline) < 0 || cpumask_new(&now) < 0 || cpumask_new(&allowed) < 0)
		return -ENOMEM;
	r = read_online(&online);
	if (r < 0)
		return r;
	r = thread_get_cpus_with_offline(tid, with_offline);
	if (r == 0)
		r = thread_get_cpus(tid, now);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	if (cpumask_subset(missing, with_offline) || !cpumask_subset(now, with_offline))
		return 0;
	/* If the thread is not on a CPU that has just come back, that is not the thread's choice.
	 */
	cpumask_or(now, now, missing);
	cpumask_and(now, now, online);
	r = isolation_read_cpuset(tid, allowed, &cpuset);
	if (r < 0)
		return thread_is_hidden(r) ? 0 : r;
	/* In any other cpuset a thread gets the CPUs back together with its cpuset. */
	return strcmp(cpuset, "/") == 0 &&
		(cpumask_equal(now, online) || cpumask_subset(allowed, now));
}

/* Whether the journal holds only what an earlier restore could not finish. That restore has found
 * all narrowed threads already. The journal no longer has the choices of the threads that it put
 * back, which would look narrowed now. */
static bool is_from_a_restore(const struct journal *journal)
{
	for (size_t i = 0; i < journal->n; i++) {
		if (!journal->entries[i].left_alone && !journal->entries[i].waits_for_cpu)
			return false;
	}
	return true;
}

/* Widens a narrowed thread, or adds it to the plan if it has to wait for a CPU. */
static int widen_thread(const struct cpumask *missing, struct journal *journal, bool from_a_restore,
	struct knob_plan *plan, const struct task *task)
{
	struct thread_paths paths = thread_name_knobs(task);
	int r;

	if (!thread_is_movable(task) || !is_mine(task) || thread_is_of_interrupt(task) ||
		journal_find(journal, paths.chooser) ||
		(from_a_restore && !journal_find(journal, paths.follower)))
		return 0;
	r = is_narrowed(task->tid, missing);
	if (r > 0 && follower_write(strchr(paths.follower, ':') + 1, FOLLOWER_EVERYWHERE) == 0)
		r = is_narrowed(task->tid, missing);
	if (r <= 0)
		return r;
	return add_knob(plan, 0, KNOB_WORD, task, paths.follower, FOLLOWER_EVERYWHERE);
}

int threads_find_narrowed(
	const struct cpumask *missing, struct journal *journal, struct knob_plan *plan)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	bool from_a_restore = is_from_a_restore(journal);
	int r;

	r = tasks_read(NULL, &tasks);
	for (size_t i = 0; r == 0 && i < tasks->n; i++)
		r = widen_thread(missing, journal, from_a_restore, plan, &tasks->items[i]);
	return r;
}
