// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/machine/irqline.h"
#include "base/xalloc.h"
#include "look/isol-check/touching.h"

/* Reads the action of a line, if it has one that can be read. */
static void read_action(struct irqline *line)
{
	if (!line->action)
		(void)xcheck(irqline_read_action(line->number, &line->action));
}

static void add_line(struct touching_lines *t, struct irqline *line)
{
	if (t->n == 0)
		t->first = line->number;
	if (++t->n > TOUCHING_NAMES_MAX)
		return;
	read_action(line);
	text_appendf(&t->names, "%s%u", t->n > 1 ? ", " : "", line->number);
	if (line->action)
		text_appendf(&t->names, " (%.40s)", line->action);
	if (t->names.failed)
		xalloc_fail();
}

static void sort_line(const struct cpumask *cpus, const struct irqlines *lines,
	struct irqline *line, struct cpumask *scratch, struct touching *t)
{
	int r;

	r = xcheck(irqline_read_affinity(lines, line->number, scratch));
	if (r == -ENOENT)
		return;
	t->n_lines++;
	if (r == 0 && !cpumask_intersects(scratch, cpus))
		return;
	if (r == 0)
		r = xcheck(irqline_read_effective(lines, line->number, scratch));
	if (r < 0 && r != -ENOENT) {
		if (t->n_unread++ == 0)
			t->first_unread = line->number;
		return;
	}
	if (r == 0 && !cpumask_intersects(scratch, cpus)) {
		t->n_elsewhere++;
		return;
	}
	if (xcheck(irqline_belongs_to_cpu(lines, line)))
		return;
	r = irqline_is_fixed(lines, line);
	t->n_untold += r < 0;
	if (r <= 0) {
		add_line(&t->movable, line);
		return;
	}
	read_action(line);
	add_line(line->action && irqline_is_managed_queue(line->action) ? &t->managed : &t->fixed,
		line);
}

struct touching *touching_read(const struct cpumask *cpus)
{
	struct touching *t = xptr(calloc(1, sizeof(*t)));
	_cleanup_(cpumask) struct cpumask *scratch = NULL;
	struct irqlines lines = { 0 };

	xcheck(cpumask_new(&scratch));
	t->error = xcheck(irqlines_read(&lines));
	/* Without /sys/kernel/irq, the names of all lines are read at once. On an old kernel they
	 * tell which lines cannot be moved. */
	if (t->error == 0 && (lines.old_kernel != 0 || access("/sys/kernel/irq", F_OK) < 0))
		xcheck(irqlines_name(&lines));
	for (size_t i = 0; t->error == 0 && i < lines.n; i++)
		sort_line(cpus, &lines, &lines.items[i], scratch, t);
	irqlines_clear(&lines);
	return t;
}

void touching_free(struct touching *touching)
{
	if (!touching)
		return;
	text_clear(&touching->movable.names);
	text_clear(&touching->managed.names);
	text_clear(&touching->fixed.names);
	free(touching);
}
