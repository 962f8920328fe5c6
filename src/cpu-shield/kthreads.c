// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "basic/text.h"
#include "cpu-shield/kthreads.h"
#include "machine/tasks.h"

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
		if (n < NAMES_SHOWN)
			text_appendf(&names, "%s%s", n > 0 ? ", " : "", task->comm);
		n++;
	}
	if (n > NAMES_SHOWN)
		text_appendf(&names, " and %zu more", n - NAMES_SHOWN);
	if (names.failed)
		return -ENOMEM;
	*ret = n > 0 ? text_steal(&names) : NULL;
	return 0;
}
