// SPDX-License-Identifier: GPL-2.0-or-later
#include "runpinned/window.h"

void window_event_attr(int clockid, struct perf_event_attr *ret)
{
	records_event_attr(clockid, ret);
	ret->comm = 1;
	ret->comm_exec = 1;
	ret->task = 1;
}

static void take_record(const struct record *record, int32_t pid, struct window *w)
{
	switch (record->type) {
	case PERF_RECORD_COMM:
		/* prctl(PR_SET_NAME) writes such a record, too, but without the exec bit. */
		if (record->misc & PERF_RECORD_MISC_COMM_EXEC && w->n_exec++ == 0) {
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
		if (record->task_pid == pid && record->task_tid == pid) {
			w->n_exit++;
			w->exit_ns = record->time_ns;
			w->cpu_exit = record->cpu;
		}
		break;
	default:
		break;
	}
}

void window_parse(const struct records *records, int32_t pid, struct window *ret)
{
	struct window w = { .cpu_exec = -1, .cpu_exit = -1 };
	struct records rest = *records;
	struct record record;

	while (records_next(&rest, &record))
		take_record(&record, pid, &w);
	w.n_lost = rest.n_lost;
	*ret = w;
}
