// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>

#include "base/macro.h"
#include "measure/tree.h"

enum {
	/* Tasks at one time. The records of a program with more tasks are used until then. */
	TASKS_MAX = 512,
	/* For how long an ending process counts as running: freeing the address space takes a tenth
	 * of a millisecond for a small process and tens of milliseconds for a large one, and if
	 * another process was given the CPU, it keeps it for some milliseconds. */
	ENDING_MAX_NS = 5 * 1000 * 1000,
};

enum state {
	SLEEPING,
	WAITING,
	RUNNING,
	ENDING, /* has written its exit record, and counts as running */
};

struct task {
	int32_t tid;
	int32_t cpu; /* where it ran last; -1: nowhere yet */
	enum state state;
	int64_t since_ns; /* in this state */
};

struct tasks {
	struct task items[TASKS_MAX];
	size_t n;
	size_t n_running; /* the ending ones, too */
	size_t n_ending;
	size_t n_waiting;
};

/* What is added up while the records are read. */
struct sum {
	int64_t now_ns;
	double waited_ns;
	int64_t gap_ns; /* how long no task has run or waited */
	int32_t pid;
	struct tasks tasks;
	struct tree tree;
};

void tree_event_attr(int clockid, struct perf_event_attr *ret)
{
	records_event_attr(clockid, ret);
	ret->disabled = 1;
	ret->enable_on_exec = 1;
	ret->inherit = 1;
	ret->task = 1;
	ret->context_switch = 1;
}

static struct task *find_task(struct tasks *tasks, int32_t tid)
{
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->items[i].tid == tid)
			return &tasks->items[i];
	return NULL;
}

/* NULL when there are too many tasks. */
static struct task *get_task(struct tasks *tasks, int32_t tid)
{
	struct task *task = find_task(tasks, tid);

	if (task || tasks->n == TASKS_MAX)
		return task;
	task = &tasks->items[tasks->n++];
	*task = (struct task){ .tid = tid, .cpu = -1 };
	return task;
}

static void set_state(struct tasks *tasks, struct task *task, enum state state)
{
	tasks->n_running -= task->state >= RUNNING;
	tasks->n_ending -= task->state == ENDING;
	tasks->n_waiting -= task->state == WAITING;
	task->state = state;
	tasks->n_running += state >= RUNNING;
	tasks->n_ending += state == ENDING;
	tasks->n_waiting += state == WAITING;
}

static void remove_task(struct tasks *tasks, struct task *task)
{
	set_state(tasks, task, SLEEPING);
	*task = tasks->items[--tasks->n];
}

/* The task that was ending on this CPU is not there any more. */
static void remove_ended(struct tasks *tasks, int32_t cpu)
{
	for (size_t i = 0; i < tasks->n; i++) {
		if (tasks->items[i].state == ENDING && tasks->items[i].cpu == cpu) {
			remove_task(tasks, &tasks->items[i]);
			return;
		}
	}
}

/* The share of the CPUs that the program could use, but does not have. */
static double missing_part(const struct tasks *tasks, size_t n_cpus)
{
	size_t wanted = MIN(tasks->n_running + tasks->n_waiting, n_cpus);

	if (tasks->n_running >= wanted)
		return 0;
	return (double)(wanted - tasks->n_running) / (double)wanted;
}

/* Adds the time up to a record. The children of the process may outlive it: that time is not in the
 * window. */
static void pass_time(struct sum *sum, int64_t until_ns, size_t n_cpus)
{
	const struct tasks *tasks = &sum->tasks;
	int64_t ns = until_ns - sum->now_ns;

	if (ns <= 0)
		return;
	sum->now_ns = until_ns;
	if (sum->tree.n_threads <= 0)
		return;
	sum->waited_ns += missing_part(tasks, n_cpus) * (double)ns;
	if (tasks->n_waiting == 0 && tasks->n_running == tasks->n_ending)
		sum->gap_ns += ns;
}

/* Lets time pass until `until_ns`, and takes the processes away that end meanwhile. */
static void pass_time_and_end(struct sum *sum, int64_t until_ns, size_t n_cpus)
{
	struct tasks *tasks = &sum->tasks;

	while (tasks->n_ending > 0) {
		struct task *first = NULL;

		for (size_t i = 0; i < tasks->n; i++)
			if (tasks->items[i].state == ENDING &&
				(!first || tasks->items[i].since_ns < first->since_ns))
				first = &tasks->items[i];
		if (!first || first->since_ns + ENDING_MAX_NS >= until_ns)
			break;
		pass_time(sum, first->since_ns + ENDING_MAX_NS, n_cpus);
		remove_task(tasks, first);
	}
	pass_time(sum, until_ns, n_cpus);
}

static void stop_running(struct sum *sum, const struct task *task, int64_t at_ns)
{
	if (task->state == RUNNING)
		sum->tree.ran_ns += at_ns - task->since_ns;
}

static void switch_out(struct sum *sum, struct task *task, const struct record *record)
{
	bool preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

	stop_running(sum, task, record->time_ns);
	set_state(&sum->tasks, task, preempted ? WAITING : SLEEPING);
	task->since_ns = record->time_ns;
}

static void switch_in(struct sum *sum, struct task *task, const struct record *record)
{
	sum->tree.n_leader_switches += task->tid == sum->pid;
	if (task->tid == sum->pid && task->state == WAITING)
		sum->tree.leader_waited_ns += record->time_ns - task->since_ns;
	else if (task->tid == sum->pid)
		sum->tree.leader_gap_ns += sum->gap_ns;
	sum->gap_ns = 0;
	sum->tree.n_switches++;
	if (task->cpu >= 0 && task->cpu != record->cpu)
		sum->tree.n_migrations++;
	set_state(&sum->tasks, task, RUNNING);
	task->cpu = record->cpu;
	task->since_ns = record->time_ns;
}

/* Returns false when there are too many tasks. */
static bool take_switch(struct sum *sum, const struct record *record)
{
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	struct task *task;

	if (!out)
		remove_ended(&sum->tasks, record->cpu);
	task = get_task(&sum->tasks, record->tid);
	if (!task)
		return false;
	(out ? switch_out : switch_in)(sum, task, record);
	return true;
}

/* Returns false when there are too many tasks. */
static bool take_fork(struct sum *sum, const struct record *record)
{
	struct task *task = get_task(&sum->tasks, record->task_tid);

	sum->tree.n_tasks++;
	sum->tree.n_threads += record->task_pid == sum->pid;
	if (!task)
		return false;
	set_state(&sum->tasks, task, WAITING);
	task->since_ns = record->time_ns;
	return true;
}

static void take_exit(struct sum *sum, const struct record *record)
{
	struct task *task = find_task(&sum->tasks, record->task_tid);

	sum->tree.n_ended++;
	if (record->task_pid == sum->pid) {
		sum->tree.n_threads--;
		sum->tree.exit_ns = record->time_ns;
		sum->tree.cpu_exit = record->cpu;
	}
	if (!task)
		return;
	stop_running(sum, task, record->time_ns);
	if (record->task_tid != record->task_pid) {
		/* A thread leaves the address space to the others. */
		remove_task(&sum->tasks, task);
		return;
	}
	set_state(&sum->tasks, task, ENDING);
	task->cpu = record->cpu;
	task->since_ns = record->time_ns;
}

/* Returns false when there are too many tasks. */
static bool take_record(struct sum *sum, const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_SWITCH:
		return take_switch(sum, record);
	case PERF_RECORD_FORK:
		return take_fork(sum, record);
	case PERF_RECORD_EXIT:
		take_exit(sum, record);
		return true;
	default:
		return true;
	}
}

/* A record of one of the CPUs, and the next one of the same CPU. */
struct cursor {
	struct records records;
	struct record record;
	bool has_record;
};

static struct cursor *find_earliest(struct cursor *cursors, size_t n)
{
	struct cursor *earliest = NULL;

	for (size_t i = 0; i < n; i++)
		if (cursors[i].has_record &&
			(!earliest || cursors[i].record.time_ns < earliest->record.time_ns))
			earliest = &cursors[i];
	return earliest;
}

static void begin(struct sum *sum, int32_t pid, const struct window *window)
{
	struct task *leader;

	*sum = (struct sum){
		.now_ns = window->exec_ns,
		.pid = pid,
		.tree = { .n_tasks = 1, .n_threads = 1, .cpu_exit = -1 },
	};
	leader = get_task(&sum->tasks, pid);
	set_state(&sum->tasks, leader, RUNNING);
	leader->cpu = window->cpu_exec;
	leader->since_ns = window->exec_ns;
}

void tree_parse(const struct records *cpus, size_t n, int32_t pid, const struct window *window,
	struct tree *ret)
{
	struct cursor cursors[TREE_MAX_CPUS], *cursor;
	struct sum sum;

	begin(&sum, pid, window);
	n = MIN(n, (size_t)TREE_MAX_CPUS);
	for (size_t i = 0; i < n; i++) {
		cursors[i].records = cpus[i];
		cursors[i].has_record = records_next(&cursors[i].records, &cursors[i].record);
	}
	while ((cursor = find_earliest(cursors, n))) {
		/* The clocks of two CPUs, or a record that an interrupt wrote in the middle of
		 * another one, may be a little early. Time does not run backwards. */
		cursor->record.time_ns = MAX(cursor->record.time_ns, sum.now_ns);
		pass_time_and_end(&sum, cursor->record.time_ns, n);
		if (!take_record(&sum, &cursor->record)) {
			sum.tree.n_lost++;
			break;
		}
		cursor->has_record = records_next(&cursor->records, &cursor->record);
		/* The ring of this CPU is full, so nothing is known of what follows. */
		if (!cursor->has_record && cursor->records.n_lost > 0)
			break;
	}
	for (size_t i = 0; i < n; i++)
		sum.tree.n_lost += cursors[i].records.n_lost > 0;
	for (size_t i = 0; i < sum.tasks.n; i++)
		if (sum.tasks.items[i].state != ENDING)
			sum.tree.ran_ns = -1;
	sum.tree.waited_ns = (int64_t)sum.waited_ns;
	*ret = sum.tree;
}

int64_t tree_waited(const struct launch_report *report)
{
	const struct tree *tree = &report->tree;
	int64_t after_wakeups;

	/* After lost records the tree's sum is too small: use the kernel's sum. */
	if (tree->n_tasks == 1 && tree->n_lost > 0 && report->run_delay_ns >= 0)
		return report->run_delay_ns;
	after_wakeups = MAX(report->run_delay_ns - tree->leader_waited_ns, (int64_t)0);
	return tree->waited_ns + MIN(after_wakeups, tree->leader_gap_ns);
}
