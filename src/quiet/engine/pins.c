// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/machine/isolation.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/engine/pins.h"
#include "quiet/engine/thread.h"
#include "quiet/engine/threads.h"

enum {
	/* Between two looks while a change goes on: at least so long, and so many times what a look
	 * takes. */
	WATCH_STEP_NS = 2 * 1000 * 1000,
	WATCH_PAUSES = 2,
	/* After a change, where threads are born all the time. */
	WALKS_MAX = 20,
};

/* A thread of the machine. */
struct pinned {
	struct task task;
	bool is_known;		      /* `pin` holds */
	bool is_written;	      /* this process has written its knob since */
	const struct cpumask *active; /* its online CPUs, as sched_getaffinity(2) tells */
	struct pin pin;
};

/* The cpusets that were read in the present walk, by the text of /proc/PID/cgroup. */
struct cpusets {
	struct cached {
		char *cgroup;
		const struct cpumask *cpus; /* NULL: cannot be seen */
	} * items;
	size_t n;
	size_t capacity;
};

struct pins {
	struct pinned *items; /* sorted by tid */
	size_t n;
	/* Each set of CPUs that was ever seen, once: sets are compared by their addresses. */
	struct cpumask **masks;
	size_t n_masks;
	size_t masks_capacity;
	struct cpusets cpusets;
	struct cpumask *scratch;
	struct cpumask *read; /* what was read last */
	/* While a change goes on. */
	pthread_t watcher;
	bool is_watching;
	atomic_bool stop;
	int watch_error;
};

/* --- The rule. --- */

bool pin_has_chosen(const struct pin *pin, const struct cpumask *now, const struct cpumask *cpuset,
	struct cpumask *scratch)
{
	/* The kernel gave it all CPUs. A cpuset that has just got CPUs may still have threads that
	 * the kernel has not yet given them: they have what it had. */
	if (cpumask_subset(cpuset, now) || cpumask_subset(pin->cpuset, now))
		return false;
	if (cpumask_equal(now, pin->last))
		return false;
	if (!pin->wish)
		return true;
	/* As much of the wish as the cpuset allows. */
	cpumask_andnot(scratch, now, pin->wish);
	if (cpumask_intersects(scratch, cpuset))
		return true;
	cpumask_and(scratch, pin->wish, cpuset);
	return !cpumask_subset(scratch, now);
}

bool pin_is_inherited(
	const struct pin *parent, const struct cpumask *now, const struct cpumask *cpuset)
{
	return parent && (cpumask_equal(now, parent->last) || cpumask_subset(cpuset, now));
}

/* --- Sets of CPUs. --- */

/* The one copy of a set. */
static int intern(struct pins *pins, const struct cpumask *mask, const struct cpumask **ret)
{
	struct cpumask *copy;
	int r;

	for (size_t i = 0; i < pins->n_masks; i++) {
		if (cpumask_equal(pins->masks[i], mask)) {
			*ret = pins->masks[i];
			return 0;
		}
	}
	r = cpumask_copy(mask, &copy);
	if (r < 0)
		return r;
	r = array_grow(
		&pins->masks, sizeof(struct cpumask *), pins->n_masks, &pins->masks_capacity);
	if (r < 0) {
		cpumask_free(copy);
		return r;
	}
	pins->masks[pins->n_masks++] = copy;
	*ret = copy;
	return 0;
}

static int intern_list(struct pins *pins, const char *list, const struct cpumask **ret)
{
	return cpumask_parse_list(list, 0, pins->scratch, NULL) < 0
		? -EINVAL
		: intern(pins, pins->scratch, ret);
}

static int read_active(struct pins *pins, pid_t tid, const struct cpumask **ret)
{
	int r = thread_get_cpus(tid, pins->read);

	return r < 0 ? r : intern(pins, pins->read, ret);
}

static int read_cpus(struct pins *pins, pid_t tid, const struct cpumask **ret)
{
	int r = thread_get_cpus_with_offline(tid, pins->read);

	return r < 0 ? r : intern(pins, pins->read, ret);
}

static void forget_cpusets(struct cpusets *cpusets)
{
	for (size_t i = 0; i < cpusets->n; i++)
		free(cpusets->items[i].cgroup);
	cpusets->n = 0;
}

static int add_cpuset(struct pins *pins, char *cgroup, const struct cpumask **ret)
{
	struct cpusets *cpusets = &pins->cpusets;
	struct cached new = { .cgroup = cgroup };
	int r;

	r = array_grow(&cpusets->items, sizeof(*cpusets->items), cpusets->n, &cpusets->capacity);
	if (r == 0)
		r = isolation_read_cpuset_of(cgroup, pins->read, NULL);
	if (r == 0)
		r = intern(pins, pins->read, &new.cpus);
	if (r < 0 && !thread_is_hidden(r)) {
		free(cgroup);
		return r;
	}
	cpusets->items[cpusets->n++] = new;
	*ret = new.cpus;
	return 0;
}

/* The CPUs of the thread's cpuset; NULL where the cpuset cannot be seen. */
static int read_cpuset(struct pins *pins, pid_t tid, const struct cpumask **ret)
{
	char *cgroup;
	int r = isolation_read_cgroup(tid, &cgroup);

	if (r < 0)
		return r;
	for (size_t i = 0; i < pins->cpusets.n; i++) {
		if (strcmp(pins->cpusets.items[i].cgroup, cgroup) == 0) {
			free(cgroup);
			*ret = pins->cpusets.items[i].cpus;
			return 0;
		}
	}
	return add_cpuset(pins, cgroup, ret);
}

/* --- Looking at threads. --- */

static int compare_pinned(const void *a, const void *b)
{
	const struct pinned *x = a, *y = b;

	return (x->task.tid > y->task.tid) - (x->task.tid < y->task.tid);
}

static struct pinned *find_by_tid(const struct pins *pins, pid_t tid)
{
	const struct pinned key = { .task.tid = tid };

	return pins->n > 0 ? bsearch(&key, pins->items, pins->n, sizeof(key), compare_pinned)
			   : NULL;
}

static struct pinned *find_pinned(const struct pins *pins, pid_t tid, uint64_t start)
{
	struct pinned *found = find_by_tid(pins, tid);

	return found && found->task.start == start ? found : NULL;
}

/* A walk over all threads. */
struct walk {
	struct pins *pins;
	const struct tasks *tasks;
	struct pinned *items; /* one for each task, in their order */
	size_t done;	      /* so many have been looked at */
	struct journal *journal;
	uint64_t first_since; /* the time of the journal's first entry */
	bool force;
	bool is_first;
	bool found; /* a thread had to be written */
};

/* What is known of the parent of a task, in this walk or from the last one. */
static const struct pinned *find_known_parent(const struct walk *walk, const struct task *task)
{
	const struct task *parent = thread_find_parent(walk->tasks, task);
	const struct pinned *known;

	if (!parent)
		return NULL;
	known = &walk->items[parent - walk->tasks->items];
	if ((size_t)(parent - walk->tasks->items) >= walk->done || !known->is_known)
		known = find_pinned(walk->pins, parent->tid, parent->start);
	return known && known->is_known ? known : NULL;
}

static const struct journal_entry *find_entry(const struct walk *walk, const struct task *task)
{
	const struct journal_entry *entry = threads_find_entry(walk->journal, task);

	return entry && !entry->left_alone ? entry : NULL;
}

static bool is_follower(const struct journal_entry *entry)
{
	return text_starts_with(entry->path, FOLLOWER_SCHEME ":");
}

static bool is_list_of(struct pins *pins, const char *list, const struct cpumask *cpus)
{
	return cpumask_parse_list(list, 0, pins->scratch, NULL) == 0 &&
		cpumask_equal(pins->scratch, cpus);
}

/* Whether the set, which somebody may have had before, is what the journal says that the thread had
 * after the apply. */
static bool is_outcome(
	struct pins *pins, const struct journal_entry *entry, const struct cpumask *active)
{
	return entry->new &&is_list_of(pins, entry->new, active);
}

/* What a thread of the journal has chosen. */
static int judge_by_entry(struct walk *walk, const struct journal_entry *entry, struct pinned *p)
{
	struct pins *pins = walk->pins;
	bool is_given = cpumask_subset(p->pin.cpuset, p->pin.last);
	const struct cpumask *old;
	int r;

	if (is_follower(entry) && strcmp(entry->old, FOLLOWER_EVERYWHERE) == 0) {
		if (walk->force || is_given || !entry->new || is_outcome(pins, entry, p->active))
			p->pin.wish = NULL;
		return 0;
	}
	r = intern_list(pins, entry->old, &old);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	if (walk->force || is_given || is_outcome(pins, entry, p->active) ||
		(!entry->new &&cpumask_subset(p->pin.last, old)))
		p->pin.wish = old;
	return 0;
}

/* Whether the thread was started after the journal noted something, such as what its ancestor had.
 */
static bool is_younger(const struct task *task, uint64_t since)
{
	return (task->start + 1) * threads_tick_ns() > since;
}

/* What a thread that the journal does not know may have inherited from one that it knows. */
static int judge_by_ancestor(struct walk *walk, struct pinned *p)
{
	struct pins *pins = walk->pins;
	const struct journal_entry *entry = NULL;
	const struct task *task = &p->task;
	const struct pinned *ancestor;

	if (!is_younger(task, walk->first_since))
		return 0;
	for (size_t steps = 0; !entry && steps < walk->tasks->n; steps++) {
		task = thread_find_parent(walk->tasks, task);
		if (!task)
			return 0;
		entry = find_entry(walk, task);
	}
	if (!entry || is_follower(entry) || !is_younger(&p->task, entry->since))
		return 0;
	ancestor = &walk->items[task - walk->tasks->items];
	/* Threads are listed by their numbers, which begin again at some time. */
	if ((size_t)(task - walk->tasks->items) >= walk->done || !ancestor->is_known)
		return 0;
	if (is_outcome(pins, entry, p->active) ||
		(entry->new ? p->active == ancestor->active
			    : pin_is_inherited(&ancestor->pin, p->pin.last, p->pin.cpuset)))
		p->pin.wish = ancestor->pin.wish;
	return 0;
}

/* What a thread has chosen that is seen for the first time. */
static int judge_new(struct walk *walk, struct pinned *p)
{
	const struct pinned *parent;
	const struct journal_entry *entry;

	p->pin.wish = cpumask_subset(p->pin.cpuset, p->pin.last) ? NULL : p->pin.last;
	if (!walk->is_first) {
		/* Of a thread that this process has written, only that counts. */
		parent = p->is_written ? NULL : find_known_parent(walk, &p->task);
		if (pin_is_inherited(parent ? &parent->pin : NULL, p->pin.last, p->pin.cpuset))
			p->pin.wish = parent->pin.wish;
		return 0;
	}
	if (!walk->journal)
		return 0;
	entry = find_entry(walk, &p->task);
	return entry ? judge_by_entry(walk, entry, p) : judge_by_ancestor(walk, p);
}

/* Reads the CPUs of a thread and of its cpuset. -ENODATA where the cpuset cannot be seen. */
static int look_at(struct pins *pins, struct pinned *p)
{
	pid_t tid = p->task.tid;
	int r;

	r = read_active(pins, tid, &p->active);
	if (r == 0)
		r = read_cpus(pins, tid, &p->pin.last);
	if (r == 0)
		r = read_cpuset(pins, tid, &p->pin.cpuset);
	return r < 0 ? r : p->pin.cpuset ? 0 : -ENODATA;
}

/*
 * What has become of a thread since it was seen last. Before a thread counts as one that has chosen
 * for itself, its cpuset is read again: the CPUs of a cpuset change before those of its threads do,
 * so that it explains what the thread has, if the kernel gave it that.
 */
static int judge_again(struct pins *pins, const struct pin *before, struct pinned *p)
{
	bool has_chosen = pin_has_chosen(before, p->pin.last, p->pin.cpuset, pins->scratch);
	int r;

	if (has_chosen) {
		forget_cpusets(&pins->cpusets);
		r = look_at(pins, p);
		if (r < 0)
			return r;
		has_chosen = pin_has_chosen(before, p->pin.last, p->pin.cpuset, pins->scratch);
	}
	p->pin.wish = has_chosen ? p->pin.last : before->wish;
	return 0;
}

/* Gives a thread as much of what it has chosen as its cpuset allows. 1 when it was written. */
static int give_wish(struct pins *pins, struct pinned *p)
{
	_cleanup_(cpumask) struct cpumask *has = NULL;
	int r;

	if (!p->pin.wish)
		return 0;
	r = cpumask_copy(p->pin.last, &has);
	if (r < 0)
		return r;
	cpumask_and(has, has, p->pin.cpuset);
	cpumask_and(pins->scratch, p->pin.wish, p->pin.cpuset);
	if (cpumask_is_empty(pins->scratch) || cpumask_equal(pins->scratch, has))
		return 0;
	r = thread_set_cpus(p->task.tid, p->pin.wish);
	/* The cpuset has changed again, or the kernel does not let the thread be moved. */
	if (r == -EINVAL || r == -EPERM)
		return 0;
	if (r == 0)
		r = read_active(pins, p->task.tid, &p->active);
	if (r == 0)
		r = read_cpus(pins, p->task.tid, &p->pin.last);
	return r < 0 ? r : 1;
}

/* Whether nothing can be given to a thread as long as it has the CPUs that it has. */
static bool has_wish(const struct pin *pin)
{
	return !pin->wish || cpumask_subset(pin->wish, pin->last);
}

/* Looks at one thread, and gives it back what it has chosen. Most threads have the CPUs that they
 * had, and are not looked at closely. */
static int visit(struct walk *walk, struct pinned *p)
{
	struct pins *pins = walk->pins;
	const struct pinned *before = find_pinned(pins, p->task.tid, p->task.start);
	int r;

	if (before && !before->is_known) {
		p->is_written = before->is_written;
		before = NULL;
	}
	if (before) {
		r = read_active(pins, p->task.tid, &p->active);
		if (r == 0 && p->active == before->active && has_wish(&before->pin)) {
			p->pin = before->pin;
			p->is_known = true;
		}
		if (r < 0 || p->is_known)
			return r;
	}
	r = look_at(pins, p);
	/* A cpuset that is being changed cannot be seen for a moment: what is known stays, and with
	 * the CPUs of then the thread is looked at again. With -ENOENT or -ESRCH it is gone. */
	if (before && r == -ENODATA) {
		*p = *before;
		return 0;
	}
	if (r == 0)
		r = before ? judge_again(pins, &before->pin, p) : judge_new(walk, p);
	if (r < 0)
		return r;
	p->is_known = true;
	p->is_written = false;
	if (walk->is_first)
		return 0;
	r = give_wish(pins, p);
	walk->found = walk->found || r > 0;
	return MIN(r, 0);
}

/* One walk over all threads. Returns whether one had to be written, or an error. */
static int walk_once(struct pins *pins, struct walk *walk)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	int r;

	r = tasks_read(NULL, &tasks);
	if (r < 0)
		return r;
	walk->pins = pins;
	walk->tasks = tasks;
	walk->items = calloc(tasks->n + 1, sizeof(*walk->items));
	if (!walk->items)
		return -ENOMEM;
	forget_cpusets(&pins->cpusets);
	for (; r == 0 && walk->done < tasks->n; walk->done++) {
		struct pinned *p = &walk->items[walk->done];

		p->task = tasks->items[walk->done];
		if (!thread_is_movable(&p->task) || thread_is_of_interrupt(&p->task))
			continue;
		r = visit(walk, p);
		/* A thread that is gone, or in a cpuset that cannot be seen. */
		if (thread_is_hidden(r))
			r = 0;
	}
	if (r < 0) {
		free(walk->items);
		return r;
	}
	free(pins->items);
	pins->items = walk->items;
	pins->n = tasks->n;
	qsort(pins->items, pins->n, sizeof(*pins->items), compare_pinned);
	return walk->found;
}

int pins_begin(struct journal *journal, bool force, struct pins **ret)
{
	_cleanup_(pins) struct pins *pins = calloc(1, sizeof(*pins));
	struct walk walk = {
		.journal = journal, .force = force, .is_first = true, .first_since = UINT64_MAX
	};
	int r;

	for (size_t i = 0; journal && i < journal->n; i++)
		walk.first_since = MIN(walk.first_since, journal->entries[i].since);
	if (!pins || cpumask_new(&pins->scratch) < 0 || cpumask_new(&pins->read) < 0)
		return -ENOMEM;
	r = walk_once(pins, &walk);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(pins);
	return 0;
}

void pins_free(struct pins *pins)
{
	if (!pins)
		return;
	forget_cpusets(&pins->cpusets);
	free(pins->cpusets.items);
	for (size_t i = 0; i < pins->n_masks; i++)
		cpumask_free(pins->masks[i]);
	free(pins->masks);
	free(pins->items);
	cpumask_free(pins->scratch);
	cpumask_free(pins->read);
	free(pins);
}

/* --- A change. --- */

/* Whether a process is there that the last walk has not seen. */
static bool has_new_process(const struct pins *pins)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int pid;

	while (dir && (entry = readdir(dir))) {
		if (parse_int(entry->d_name, 1, INT_MAX, &pid) == 0 && !find_by_tid(pins, pid))
			return true;
	}
	return false;
}

/* Whether there is anything for a walk to find: a glance costs a tenth of a walk. */
static bool has_news(struct pins *pins)
{
	const struct cpumask *active;

	for (size_t i = 0; i < pins->n; i++) {
		const struct pinned *p = &pins->items[i];

		if (p->is_known && read_active(pins, p->task.tid, &active) == 0 &&
			active != p->active)
			return true;
	}
	return has_new_process(pins);
}

/* What the second thread of this process does: the main thread uses nothing of `pins` meanwhile. */
static void *watch(void *context)
{
	struct pins *pins = context;

	while (!atomic_load(&pins->stop)) {
		struct walk walk = { 0 };
		int64_t began = clock_now_ns(CLOCK_MONOTONIC), took;
		struct timespec pause = { 0 };
		int r = has_news(pins) ? walk_once(pins, &walk) : 0;

		if (r < 0) {
			pins->watch_error = r;
			break;
		}
		took = clock_now_ns(CLOCK_MONOTONIC) - began;
		took = MIN(took * WATCH_PAUSES, NSEC_PER_SEC / 2);
		pause.tv_nsec = (long)MAX(took, (int64_t)WATCH_STEP_NS);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}

int pins_begin_change(struct pins *pins)
{
	struct walk walk = { 0 };
	int r = walk_once(pins, &walk);

	if (r < 0)
		return r;
	atomic_store(&pins->stop, false);
	pins->watch_error = 0;
	/* Without a second thread threads get back what they had when the change has been made. */
	pins->is_watching = pthread_create(&pins->watcher, NULL, watch, pins) == 0;
	return 0;
}

int pins_end_change(struct pins *pins)
{
	int r = 0;

	if (pins->is_watching) {
		atomic_store(&pins->stop, true);
		pthread_join(pins->watcher, NULL);
		pins->is_watching = false;
		r = pins->watch_error;
	}
	for (int i = 0, found = 1; r == 0 && found > 0 && i < WALKS_MAX; i++) {
		struct walk walk = { 0 };

		found = walk_once(pins, &walk);
		r = MIN(found, 0);
	}
	return r;
}

int pins_settle(struct pins *pins)
{
	struct threads_walks walks = threads_walks_begin();
	int found;

	do {
		struct walk walk = { 0 };

		found = walk_once(pins, &walk);
		if (found < 0)
			return found;
	} while (threads_walks_go_on(&walks, found > 0));
	return 0;
}

static struct pinned *find_by_path(const struct pins *pins, const char *path)
{
	const char *which = strchr(path, ':');
	uint64_t start;
	pid_t tid;

	return which && thread_parse(which + 1, &tid, &start) == 0 ? find_pinned(pins, tid, start)
								   : NULL;
}

int pins_is_chosen_anew(struct pins *pins, const char *path, const char *list)
{
	struct pinned *p = find_by_path(pins, path);
	struct pin before;
	int r;

	if (!p || !p->is_known)
		return -ENOENT;
	before = p->pin;
	forget_cpusets(&pins->cpusets);
	r = look_at(pins, p);
	if (r == 0)
		r = judge_again(pins, &before, p);
	if (r < 0)
		return thread_is_hidden(r) ? -ENOENT : r;
	if (!p->pin.wish)
		return 0;
	if (strcmp(list, FOLLOWER_EVERYWHERE) == 0)
		return 1;
	return cpumask_parse_list(list, 0, pins->scratch, NULL) == 0 &&
		!cpumask_equal(pins->scratch, p->pin.wish);
}

void pins_forget(struct pins *pins, const char *path)
{
	struct pinned *p = find_by_path(pins, path);

	if (p) {
		p->is_known = false;
		p->is_written = true;
	}
}

/* --- The journal. --- */

static int add_entry(struct journal *journal, unsigned group, const struct pinned *p)
{
	struct thread_paths paths = thread_name_knobs(&p->task);
	_cleanup_free_ char *name = NULL, *old = NULL, *new = NULL;
	int r;

	old = cpumask_format_list(p->pin.wish);
	new = cpumask_format_list(p->active);
	if (!old || !new || text_format(&name, THREADS_NAME, p->task.comm, (int)p->task.tid) < 0)
		return -ENOMEM;
	r = journal_add(journal, group, KNOB_LIST, paths.chooser, name, old, new);
	if (r == 0)
		journal->entries[journal->n - 1].role = JOURNAL_KEPT;
	return r;
}

int pins_add_to_journal(const struct pins *pins, struct journal *journal, unsigned group)
{
	_cleanup_free_ bool *is_new = calloc(pins->n + 1, sizeof(*is_new));
	int r = 0;

	if (!is_new)
		return -ENOMEM;
	/* All are looked up first: after an addition the next look sorts the journal again. */
	for (size_t i = 0; i < pins->n; i++) {
		const struct pinned *p = &pins->items[i];

		is_new[i] = p->is_known && p->pin.wish &&
			!cpumask_subset(p->pin.wish, p->pin.last) &&
			!threads_find_entry(journal, &p->task);
	}
	for (size_t i = 0; r == 0 && i < pins->n; i++) {
		if (is_new[i])
			r = add_entry(journal, group, &pins->items[i]);
	}
	return r;
}
