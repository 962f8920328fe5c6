// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/machine/tasks.h"
#include "base/text.h"
#include "quiet/cpu-shield/kthreads.h"

enum {
	NAMES_SHOWN = 3,
};

int kthreads_name_remaining(const struct cpumask *quiet, char **ret)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	_cleanup_text_ struct text names = { 0 };
	size_t n = 0;
	int r;

	r = tasks_read(quiet, &tasks);
	if (r < 0)
		return r;
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		if (!task->kernel || task->bound || !task->may)
			continue;
		text_append_name(&names, n++, NAMES_SHOWN, "%s", task->comm);
	}
	text_append_rest(&names, n, NAMES_SHOWN);
	if (names.failed)
		return -ENOMEM;
	*ret = n > 0 ? text_steal(&names) : NULL;
	return 0;
}
