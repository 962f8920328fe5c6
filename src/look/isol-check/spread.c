// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "look/isol-check/spread.h"

void spread_add(struct spread *spread, int cpu, const char *value)
{
	size_t i = 0;

	while (i < spread->n && strcmp(spread->items[i].value, value) != 0)
		i++;
	if (i == SPREAD_MAX) {
		spread->n_more++;
		return;
	}
	if (i == spread->n) {
		spread->items[i].value = xptr(strdup(value));
		xcheck(cpumask_new(&spread->items[i].cpus));
		spread->n++;
	}
	(void)cpumask_set(spread->items[i].cpus, cpu);
}

char *spread_format(const struct spread *spread)
{
	struct text text = { 0 };

	if (spread->n == 1)
		return xptr(strdup(spread->items[0].value));
	for (size_t i = 0; i < spread->n; i++) {
		_cleanup_free_ char *list = xptr(cpumask_format_list(spread->items[i].cpus));

		text_appendf(
			&text, "%sCPU %s: %s", i > 0 ? ", " : "", list, spread->items[i].value);
	}
	if (spread->n_more > 0)
		text_appendf(&text, ", others: %zu CPUs", spread->n_more);
	return xptr(text_steal(&text));
}

void spread_clear(struct spread *spread)
{
	for (size_t i = 0; i < spread->n; i++) {
		free(spread->items[i].value);
		cpumask_free(spread->items[i].cpus);
	}
	*spread = (struct spread){ 0 };
}
