// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/window.h"
#include "base/macro.h"

void window_event_attr(int clockid, struct perf_event_attr *ret)
{
	records_event_attr(clockid, ret);
	ret->comm = 1;
	ret->comm_exec = 1;
	ret->task = 1;
}

static void take_record(const struct record *record, int32_t pid, struct window *w)
{
	/* The events of a CPU record all tasks; those of a task record what other tasks do to it,
	 * such as its parent, which has given it a name. */
	if (record->pid != pid)
		return;
	switch (record->type) {
	case PERF_RECORD_COMM:
		/* prctl(PR_SET_NAME) writes such a record, too, but without the exec bit. */
		if (!(record->misc & PERF_RECORD_MISC_COMM_EXEC))
			break;
		w->n_exec++;
		w->last_exec_ns = MAX(w->last_exec_ns, record->time_ns);
		if (w->exec_ns == 0 || record->time_ns < w->exec_ns) {
			w->exec_ns = record->time_ns;
			w->cpu_exec = record->cpu;
		}
		break;
	case PERF_RECORD_FORK:
		if (record->task_pid == pid)
			w->n_threads++;
		else
			w->n_children++;
		break;
	case PERF_RECORD_EXIT:
		if (record->task_pid != pid)
			break;
		if (record->task_tid == pid) {
			w->n_exit++;
			w->leader_exit_ns = record->time_ns;
		}
		if (record->time_ns > w->exit_ns) {
			w->exit_ns = record->time_ns;
			w->cpu_exit = record->cpu;
		}
		break;
	default:
		break;
	}
}

void window_parse(const struct records *rings, size_t n, int32_t pid, struct window *ret)
{
	struct window w = { .cpu_exec = -1, .cpu_exit = -1 };

	for (size_t i = 0; i < n; i++) {
		struct records rest = rings[i];
		struct record record;

		while (records_next(&rest, &record))
			take_record(&record, pid, &w);
		w.n_lost += rest.n_lost;
	}
	*ret = w;
}
